import io.agentscope.core.ReActAgent;
import io.agentscope.core.event.AgentEvent;
import io.agentscope.core.event.ConfirmResult;
import io.agentscope.core.message.Base64Source;
import io.agentscope.core.message.ContentBlock;
import io.agentscope.core.message.DataBlock;
import io.agentscope.core.message.Msg;
import io.agentscope.core.message.MsgRole;
import io.agentscope.core.message.TextBlock;
import io.agentscope.core.message.ThinkingBlock;
import io.agentscope.core.message.ToolResultBlock;
import io.agentscope.core.message.ToolResultState;
import io.agentscope.core.message.ToolUseBlock;
import io.agentscope.core.message.UserMessage;
import io.agentscope.core.model.ChatModelBase;
import io.agentscope.core.model.ChatResponse;
import io.agentscope.core.model.ChatUsage;
import io.agentscope.core.model.GenerateOptions;
import io.agentscope.core.model.ToolSchema;
import io.agentscope.core.permission.PermissionBehavior;
import io.agentscope.core.permission.PermissionContextState;
import io.agentscope.core.permission.PermissionDecision;
import io.agentscope.core.tool.ToolBase;
import io.agentscope.core.tool.ToolCallParam;
import io.agentscope.core.tool.Toolkit;
import io.agentscope.core.util.JacksonJsonCodec;
import io.agentscope.core.util.JsonCodec;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Records real agents on a scripted model: java Recorder FOLDER.
 *
 * <p>NAME.events.jsonl holds each event as the codec wrote it, NAME.message.json the messages that the agent kept.
 */
public final class Recorder {
    private static final JsonCodec CODEC = new JacksonJsonCodec();
    private static Path folder;

    public static void main(String[] args) throws Exception {
        folder = Path.of(args[0]);
        Files.createDirectories(folder);

        run("text_only", model(reply(usage(11, 3), text("Hello"), text(", world"))), tools(), one());

        run(
                "thinking_text_tool",
                model(
                        reply(
                                usage(20, 9),
                                thinking("I need "),
                                thinking("the weather."),
                                text("Let me look."),
                                call("call_1", "weather", "{\"city\":"),
                                call("call_1", "__fragment__", "\"Paris\"}")),
                        reply(usage(31, 4), text("It is sunny."))),
                tools(),
                one());

        run(
                "text_around_tool",
                model(
                        reply(
                                usage(20, 9),
                                text("Before. "),
                                call("call_1", "weather", "{\"city\":\"Paris\"}"),
                                text("After.")),
                        reply(usage(31, 4), text("Done."))),
                tools(),
                one());

        run(
                "parallel_tools",
                model(
                        reply(
                                usage(40, 12),
                                call("call_a", "weather", "{\"city\":\"Paris\"}"),
                                call("call_b", "weather", "{\"city\":\"Rome\"}")),
                        reply(usage(60, 5), text("Both are sunny."))),
                tools(),
                one());

        run(
                "interleaved_calls",
                model(
                        reply(
                                usage(40, 12),
                                call("call_a", "weather", "{\"city\":"),
                                call("call_b", "weather", "{\"city\":"),
                                call("call_a", "weather", "\"Paris\"}"),
                                call("call_b", "weather", "\"Rome\"}")),
                        reply(usage(60, 5), text("Both are sunny."))),
                tools(),
                one());

        run(
                "tool_fails",
                model(reply(usage(9, 3), call("call_1", "broken", "{}")), reply(usage(12, 3), text("It failed."))),
                tools(),
                one());

        run(
                "tool_image",
                model(reply(usage(9, 3), call("call_1", "camera", "{}")), reply(usage(12, 3), text("A picture."))),
                tools(),
                one());

        run(
                "tool_progress",
                model(reply(usage(9, 3), call("call_1", "slow", "{}")), reply(usage(12, 3), text("Finished."))),
                tools(),
                one());

        run(
                "denied_by_rule",
                model(reply(usage(9, 3), call("call_1", "forbidden", "{}")), reply(usage(12, 3), text("I may not."))),
                tools(),
                one());

        run(
                "input_without_content",
                model(
                        reply(usage(9, 3), ToolUseBlock.builder().id("call_1").name("weather").input(Map.of("city", "Paris")).build()),
                        reply(usage(12, 3), text("Sunny."))),
                tools(),
                one());

        Supplier<ScriptedModel> asking =
                () ->
                        model(
                                reply(
                                        usage(9, 3),
                                        text("May I?"),
                                        call("call_1", "delete", "{\"city\":\"/tmp\"}"),
                                        call("call_2", "weather", "{\"city\":\"Paris\"}")),
                                reply(usage(12, 3), text("Done.")));
        run("confirm_parked", asking.get(), tools(), one());
        run("confirm_approved", asking.get(), tools(), last -> confirm(last, true));
        run("confirm_denied", asking.get(), tools(), last -> confirm(last, false));

        Supplier<ScriptedModel> external =
                () ->
                        model(
                                reply(usage(9, 3), call("call_1", "outside", "{\"city\":\"x\"}"), call("call_2", "weather", "{\"city\":\"Rome\"}")),
                                reply(usage(12, 3), text("Outside says 42.")));
        run("external_parked", external.get(), tools(), one());
        run("external_resumed", external.get(), tools(), Recorder::results);

        run(
                "max_iters",
                model(
                        reply(usage(9, 3), call("call_1", "weather", "{\"city\":\"a\"}")),
                        reply(usage(12, 3), call("call_2", "weather", "{\"city\":\"b\"}")),
                        reply(usage(15, 3), text("I could not finish."))),
                tools(),
                one());

        run(
                "model_error",
                new ScriptedModel(List.of(() -> Flux.error(new IllegalStateException("no such model")))),
                tools(),
                one());

        run(
                "model_error_midway",
                new ScriptedModel(
                        List.of(
                                () ->
                                        Flux.concat(
                                                Flux.just(chunk("resp", null, text("Half an "))),
                                                Flux.error(new IllegalStateException("connection lost"))))),
                tools(),
                one());

        ScriptedModel interrupted = new ScriptedModel(new ArrayList<>());
        interrupted.scripts.add(
                () ->
                        Flux.just(text("One, "), text("two, "), text("three, "))
                                .delayElements(Duration.ofMillis(150))
                                .map(
                                        block -> {
                                            if (block.getText().startsWith("two")) {
                                                interrupted.agent.interrupt();
                                            }
                                            return chunk("resp-1", null, block);
                                        }));
        run("interrupt", interrupted, tools(), one());

        ScriptedModel stopped =
                model(
                        reply(usage(9, 3), call("call_1", "interrupter", "{}")),
                        reply(usage(12, 3), text("unreached")));
        run("interrupt_in_tool", stopped, tools(), one());

        run(
                "empty_answer",
                model(reply(usage(9, 3), thinking("Hm.")), reply(usage(9, 3), text("Sorry.")), reply(usage(9, 3), text("Sorry."))),
                tools(),
                one());
    }

    // --- the model -----------------------------------------------------------------------------

    private static final class ScriptedModel extends ChatModelBase {
        private final List<Supplier<Flux<ChatResponse>>> scripts;
        private int next;
        private ReActAgent agent;

        ScriptedModel(List<Supplier<Flux<ChatResponse>>> scripts) {
            this.scripts = scripts;
        }

        @Override
        public String getModelName() {
            return "scripted";
        }

        @Override
        protected Flux<ChatResponse> doStream(List<Msg> messages, List<ToolSchema> tools, GenerateOptions options) {
            return scripts.get(next++).get();
        }
    }

    @SafeVarargs
    private static ScriptedModel model(Function<Integer, Flux<ChatResponse>>... replies) {
        List<Supplier<Flux<ChatResponse>>> scripts = new ArrayList<>();
        for (int i = 0; i < replies.length; i++) {
            int number = i;
            scripts.add(() -> replies[number].apply(number + 1));
        }
        return new ScriptedModel(scripts);
    }

    private static Function<Integer, Flux<ChatResponse>> reply(ChatUsage usage, ContentBlock... blocks) {
        return number -> {
            List<ChatResponse> chunks = new ArrayList<>();
            for (int i = 0; i < blocks.length; i++) {
                chunks.add(chunk("resp-" + number, i == blocks.length - 1 ? usage : null, blocks[i]));
            }
            return Flux.fromIterable(chunks);
        };
    }

    private static ChatResponse chunk(String id, ChatUsage usage, ContentBlock block) {
        return ChatResponse.builder().id(id).content(List.of(block)).usage(usage).build();
    }

    private static ChatUsage usage(int input, int output) {
        return ChatUsage.builder().inputTokens(input).outputTokens(output).cachedTokens(2).time(0.5).build();
    }

    private static TextBlock text(String text) {
        return TextBlock.builder().text(text).build();
    }

    private static ThinkingBlock thinking(String text) {
        return ThinkingBlock.builder().thinking(text).build();
    }

    private static ToolUseBlock call(String id, String name, String arguments) {
        return ToolUseBlock.builder().id(id).name(name).input(Map.of()).content(arguments).build();
    }

    // --- the tools -----------------------------------------------------------------------------

    private static final class ScriptedTool extends ToolBase {
        private final PermissionBehavior behavior;
        private final Function<ToolCallParam, Mono<ToolResultBlock>> body;

        ScriptedTool(String name, PermissionBehavior behavior, Function<ToolCallParam, Mono<ToolResultBlock>> body) {
            super(name, "a tool", schema(), true, true, false, null, false, false);
            this.behavior = behavior;
            this.body = body;
        }

        @Override
        public Mono<PermissionDecision> checkPermissions(Map<String, Object> input, PermissionContextState context) {
            return Mono.just(
                    switch (behavior) {
                        case ASK -> PermissionDecision.ask("ask");
                        case DENY -> PermissionDecision.deny("deny");
                        default -> PermissionDecision.allow("allow");
                    });
        }

        @Override
        public Mono<ToolResultBlock> callAsync(ToolCallParam param) {
            return body.apply(param);
        }
    }

    private static Map<String, Object> schema() {
        return Map.of("type", "object", "properties", Map.of("city", Map.of("type", "string")));
    }

    private static Toolkit tools() {
        Toolkit toolkit = new Toolkit();
        toolkit.registerAgentTool(
                new ScriptedTool(
                        "weather",
                        PermissionBehavior.ALLOW,
                        param -> Mono.just(ToolResultBlock.text("sunny in " + param.getInput().get("city")))));
        toolkit.registerAgentTool(
                new ScriptedTool("delete", PermissionBehavior.ASK, param -> Mono.just(ToolResultBlock.text("deleted"))));
        toolkit.registerAgentTool(
                new ScriptedTool("forbidden", PermissionBehavior.DENY, param -> Mono.just(ToolResultBlock.text("never"))));
        toolkit.registerAgentTool(
                new ScriptedTool("broken", PermissionBehavior.ALLOW, param -> Mono.error(new IllegalStateException("out of order"))));
        toolkit.registerAgentTool(
                new ScriptedTool(
                        "camera",
                        PermissionBehavior.ALLOW,
                        param ->
                                Mono.just(
                                        ToolResultBlock.builder()
                                                .output(
                                                        List.of(
                                                                text("one picture"),
                                                                DataBlock.builder()
                                                                        .source(
                                                                                Base64Source.builder()
                                                                                        .mediaType("image/png")
                                                                                        .data("iVBORw0KGgo=")
                                                                                        .build())
                                                                        .name("a.png")
                                                                        .build()))
                                                .state(ToolResultState.SUCCESS)
                                                .metadata(Map.of("lens", "wide"))
                                                .build())));
        toolkit.registerAgentTool(
                new ScriptedTool(
                        "slow",
                        PermissionBehavior.ALLOW,
                        param -> {
                            param.getEmitter().emit(ToolResultBlock.text("10 %, "));
                            param.getEmitter().emit(ToolResultBlock.text("90 %, "));
                            return Mono.just(ToolResultBlock.text("all done"));
                        }));
        toolkit.registerAgentTool(
                new ScriptedTool(
                        "interrupter",
                        PermissionBehavior.ALLOW,
                        param -> {
                            ((ReActAgent) param.getAgent()).interrupt();
                            return Mono.just(ToolResultBlock.text("stopped")).delayElement(Duration.ofMillis(200));
                        }));
        toolkit.registerSchema(ToolSchema.builder().name("outside").description("runs elsewhere").parameters(schema()).build());
        return toolkit;
    }

    // --- a run ---------------------------------------------------------------------------------

    private static Function<Msg, Msg> one() {
        return last -> null;
    }

    private static Msg confirm(Msg last, boolean confirmed) {
        List<ConfirmResult> results = new ArrayList<>();
        for (ToolUseBlock call : last.getContentBlocks(ToolUseBlock.class)) {
            if (call.getState().getValue().equals("asking")) {
                results.add(new ConfirmResult(confirmed, call, null));
            }
        }
        Map<String, Object> metadata = new HashMap<>(Map.of(Msg.METADATA_CONFIRM_RESULTS, results));
        return Msg.builder().name("user").role(MsgRole.USER).textContent("[confirm]").metadata(metadata).build();
    }

    private static Msg results(Msg last) {
        List<ContentBlock> results = new ArrayList<>();
        for (ToolUseBlock call : last.getContentBlocks(ToolUseBlock.class)) {
            if (call.getName().equals("outside")) {
                results.add(
                        ToolResultBlock.builder()
                                .id(call.getId())
                                .name(call.getName())
                                .output(List.of(text("42")))
                                .state(ToolResultState.SUCCESS)
                                .build());
            }
        }
        return Msg.builder().name("user").role(MsgRole.TOOL).content(results).build();
    }

    private static void run(String name, ScriptedModel model, Toolkit toolkit, Function<Msg, Msg> answer) throws Exception {
        ReActAgent agent =
                ReActAgent.builder().name("bot").model(model).toolkit(toolkit).maxIters(2).maxRetries(1).build();
        model.agent = agent;
        List<String> lines = new ArrayList<>();
        String error = stream(agent, new UserMessage("user", "Go"), lines);
        List<Msg> context = agent.getAgentState().getContext();
        Msg next = null;
        for (Msg message : context) {
            if (message.getRole() == MsgRole.ASSISTANT) {
                next = answer.apply(message) == null ? next : answer.apply(message);
                break;
            }
        }
        if (next != null) {
            error = stream(agent, next, lines);
        }
        Files.write(folder.resolve(name + ".events.jsonl"), lines);
        List<String> kept = new ArrayList<>();
        for (Msg message : agent.getAgentState().getContext()) {
            kept.add(CODEC.toJson(message));
        }
        Files.writeString(folder.resolve(name + ".message.json"), "[" + String.join(",\n ", kept) + "]\n");
        System.out.println(name + ": " + lines.size() + " events" + (error == null ? "" : ", " + error));
    }

    private static String stream(ReActAgent agent, Msg input, List<String> lines) {
        try {
            agent.streamEvents(Arrays.asList(input)).doOnNext((AgentEvent event) -> lines.add(CODEC.toJson(event))).blockLast();
            return null;
        } catch (RuntimeException error) {
            return error.toString();
        }
    }
}
