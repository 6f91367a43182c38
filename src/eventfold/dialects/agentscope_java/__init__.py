from .decoder import JavaDecoder
from .encoder import JavaEncoder
from eventfold.dialects.translation import Dialect, COMMON
DIALECT = Dialect(name="agentscope_java", title="x", recognise=lambda v: False, decoder=JavaDecoder, encoder=JavaEncoder, rules=COMMON)
