import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.agentscope.core.event.AgentEvent;
import io.agentscope.core.message.Msg;
import io.agentscope.core.util.JacksonJsonCodec;
import io.agentscope.core.util.JsonCodec;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Reads values with AgentScope's own classes and codec, and writes them back.
 *
 * <p>One JSON line in, one out: {"op": "event" or "msg", "values": [...]} is answered by {"written": [text, ...]}, where a
 * text is what the codec wrote, or by {"error": text, "at": index} for the first value that was refused. A value
 * that is an object is also read by a plain ObjectMapper, which refuses unknown properties of nested classes; one that is a
 * string is JSON text, and read by the codec only: a plain mapper cannot read the totalTokens that Java itself writes.
 */
public final class Judge {
    private static final ObjectMapper PLAIN = new ObjectMapper();
    private static final JsonCodec CODEC = new JacksonJsonCodec();

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        OutputStream out = System.out;
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.write(PLAIN.writeValueAsBytes(answer(PLAIN.readTree(line))));
            out.write('\n');
            out.flush();
        }
    }

    private static Map<String, Object> answer(JsonNode request) {
        Class<?> wanted = request.get("op").asText().equals("event") ? AgentEvent.class : Msg.class;
        List<String> written = new ArrayList<>();
        for (JsonNode value : request.get("values")) {
            try {
                String text = value.isTextual() ? value.textValue() : value.toString();
                Object read = CODEC.fromJson(text, wanted);
                if (!value.isTextual()) {
                    PLAIN.readValue(text, wanted);
                }
                written.add(CODEC.toJson(read));
            } catch (Exception | LinkageError error) {
                return Map.of("error", String.valueOf(cause(error)), "at", written.size());
            }
        }
        return Map.of("written", written);
    }

    private static Throwable cause(Throwable error) {
        return error.getCause() == null ? error : cause(error.getCause());
    }
}
