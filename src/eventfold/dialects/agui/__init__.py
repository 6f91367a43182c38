"""AG-UI."""

from eventfold.dialects.translation import Dialect, COMMON
from .decoder import AguiDecoder
from .encoder import AguiEncoder

DIALECT = Dialect(name="agui", title="AG-UI 1.0.0", recognise=lambda v: False, decoder=AguiDecoder, encoder=AguiEncoder, rules=COMMON, losses={"a time that no calendar of four-digit years has":(), "texts that follow each other in a result become one":()})
