// SPDX-License-Identifier: Apache-2.0
// Java as an HTTP server and client:
//   HttpJava serve ADDRESS PORT   com.sun.net.httpserver: /hello, POST /echo, GET /bytes/N
//   HttpJava netty ADDRESS PORT   the same with Netty's NIO transport
//   HttpJava client ADDRESS PORT  java.net.http.HttpClient; reports the responses as JSON

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;

class HttpJava {
    static byte[] pattern(int n) {
        byte[] digits = "0123456789abcdef".getBytes(), all = new byte[n];
        for (int i = 0; i < n; i++)
            all[i] = digits[i % 16];
        return all;
    }

    static byte[] answer(String path) {
        String bytes = "/bytes/";
        if (path.startsWith(bytes))
            return pattern(Integer.parseInt(path.substring(bytes.length())));
        return "hello\n".getBytes();
    }

    static void handle(HttpExchange x) throws java.io.IOException {
        boolean post = x.getRequestMethod().equals("POST");
        byte[] body = post ? x.getRequestBody().readAllBytes() : answer(x.getRequestURI().getPath());
        x.sendResponseHeaders(200, body.length);
        try (OutputStream out = x.getResponseBody()) {
            out.write(body);
        }
    }

    static void serve(InetSocketAddress at) throws Exception {
        HttpServer server = HttpServer.create(at, 128);
        server.createContext("/", HttpJava::handle);
        server.setExecutor(Executors.newFixedThreadPool(8));
        server.start();
        System.out.println("ready");
    }

    static class Handler extends SimpleChannelInboundHandler<FullHttpRequest> {
        @Override
        protected void channelRead0(ChannelHandlerContext ctx, FullHttpRequest r) {
            ByteBuf body = r.method().equals(HttpMethod.POST)
                ? r.content().retain() : Unpooled.wrappedBuffer(answer(r.uri()));
            var a = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK, body);
            HttpUtil.setContentLength(a, body.readableBytes());
            boolean keep = HttpUtil.isKeepAlive(r);
            HttpUtil.setKeepAlive(a, keep);
            var written = ctx.writeAndFlush(a);
            if (!keep)
                written.addListener(ChannelFutureListener.CLOSE);
        }
    }

    static void netty(InetSocketAddress at) throws Exception {
        var group = new NioEventLoopGroup(2);
        var server = new ServerBootstrap().group(group).channel(NioServerSocketChannel.class);
        server.childHandler(new ChannelInitializer<SocketChannel>() {
            @Override
            protected void initChannel(SocketChannel c) {
                var whole = new HttpObjectAggregator(64 << 20);
                c.pipeline().addLast(new HttpServerCodec(), whole, new Handler());
            }
        });
        server.bind(at).sync();
        System.out.println("ready");
    }

    static void client(InetSocketAddress at) throws Exception {
        HttpClient web = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        String base = "http://" + at.getHostString() + ":" + at.getPort();
        var bytes = HttpResponse.BodyHandlers.ofByteArray();
        HttpRequest hello = HttpRequest.newBuilder(URI.create(base + "/hello")).build();
        long hellos = 0;
        for (int round = 0; round < 20; round++) {
            var asked = IntStream.range(0, 20).mapToObj(n -> web.sendAsync(hello, bytes)).toList();
            hellos += asked.stream().map(CompletableFuture::join)
                .filter(r -> Arrays.equals(r.body(), "hello\n".getBytes())).count();
        }
        byte[] body = new byte[5_000_000];
        new Random(1).nextBytes(body);
        HttpRequest echo = HttpRequest.newBuilder(URI.create(base + "/echo"))
            .POST(HttpRequest.BodyPublishers.ofByteArray(body)).build();
        boolean echoed = Arrays.equals(web.send(echo, bytes).body(), body);
        HttpRequest many = HttpRequest.newBuilder(URI.create(base + "/bytes/10000000")).build();
        boolean got = Arrays.equals(web.send(many, bytes).body(), pattern(10_000_000));
        System.out.printf("{\"hellos\": %d, \"echoed\": %b, \"bytes\": %b}%n", hellos, echoed, got);
    }

    public static void main(String[] args) throws Exception {
        var at = new InetSocketAddress(args[1], Integer.parseInt(args[2]));
        switch (args[0]) {
        case "serve" -> serve(at);
        case "netty" -> netty(at);
        default -> client(at);
        }
    }
}
