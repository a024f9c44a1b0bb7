// SPDX-License-Identifier: Apache-2.0
// rtt_parse.sv - classifies a packet by its first bytes: is it a probe (on the receive side, an
// answer), and what is its key? Parses Ethernet, up to two VLAN tags, IPv4 with options, IPv6
// without extension headers, UDP, TCP, ICMP echo. One packet per cycle, latency seven cycles.
// Fragments and truncated packets are only counted as packets.
//
//   head  | 0 dst | 6 src | 12 type | (vlan 4) (vlan 4) | l3 ...
//   l3    | IPv4: 0 version, ihl | 2 length | 6 fragment | 9 protocol | 12 src | 16 dst | l4 at 4 ihl
//         | IPv6: 0 version | 4 length | 6 next header | 8 src | 24 dst | l4 at 40
//   l4    | 0 ports | UDP: payload at 8 | TCP: 4 seq | 8 ack | 12 offset, flags | payload at 4 offset
`resetall
`default_nettype none

module rtt_parse
  import rtt_pkg::*;
#(
    parameter bit Arriving = 1'b0
) (
    input  wire              clk_i,
    input  wire              rst_ni,
    input  wire     config_t config_i,
    input  wire              valid_i,
    input  wire     packet_t packet_i,
    output logic             valid_o,
    output event_t           event_o
);
  localparam int unsigned Latency = 7;
  localparam int unsigned L3Bytes = 114;  // of 128, after the Ethernet header
  localparam int unsigned L4Bytes = 94;   // of those, after the shortest IP header

  localparam logic [7:0] Icmp4 = 8'd1, Tcp = 8'd6, Udp = 8'd17, Icmp6 = 8'd58;

  logic [Latency-1:0] valid_q;
  always_ff @(posedge clk_i) begin
    valid_q <= {valid_q[Latency-2:0], valid_i};
    if (!rst_ni) valid_q <= '0;
  end
  assign valid_o = valid_q[Latency-1];

  logic [31:0] stamp_q[Latency];
  always_ff @(posedge clk_i) begin
    stamp_q[0] <= packet_i.stamp;
    for (int i = 1; i < int'(Latency); i++) stamp_q[i] <= stamp_q[i-1];
  end

  // The filter, from this side's view: the source of a transmitted packet (also a looped one) is
  // local.
  config_t cfg_q;
  logic swap_q, any_local_q, any_remote_q;
  always_ff @(posedge clk_i) begin
    cfg_q        <= config_i;
    swap_q       <= Arriving && !config_i.looped;
    any_local_q  <= config_i.local_port == 16'd0;
    any_remote_q <= config_i.remote_port == 16'd0;
  end

  // 1: the three possible positions of the type; the packet's bytes, counted in eights.
  typedef struct packed {
    logic vlan;
    logic ip4;
    logic ip6;
  } type_t;
  function automatic type_t type_of(input logic [7:0] upper, input logic [7:0] lower);
    return '{
        vlan: {upper, lower} == 16'h8100 || {upper, lower} == 16'h88a8,
        ip4: {upper, lower} == 16'h0800,
        ip6: {upper, lower} == 16'h86dd
    };
  endfunction

  logic [127:0][7:0] head_q1;
  type_t type12_q1, type16_q1, type20_q1;
  logic [7:0][3:0] eights_q1;
  logic two_q1;
  always_ff @(posedge clk_i) begin
    head_q1   <= packet_i.head;
    two_q1    <= packet_i.two;
    type12_q1 <= type_of(packet_i.head[12], packet_i.head[13]);
    type16_q1 <= type_of(packet_i.head[16], packet_i.head[17]);
    type20_q1 <= type_of(packet_i.head[20], packet_i.head[21]);
    for (int i = 0; i < 8; i++) eights_q1[i] <= ones(packet_i.keep[8*i+:8]);
  end
  function automatic logic [3:0] ones(input logic [7:0] bits);
    logic [3:0] sum;
    sum = '0;
    for (int i = 0; i < 8; i++) sum += {3'd0, bits[i]};
    return sum;
  endfunction

  // 2: shift layer 3 to the front. more: words of the IP header beyond the shortest one.
  logic [L3Bytes-1:0][7:0] l3_q2;
  logic ip4_q2, ip6_q2;
  logic [3:0] more_q2;
  logic [7:0] bytes_q2;
  logic [4:0] ether_q2;  // bytes before layer 3
  wire one_tag = type12_q1.vlan;
  wire two_tags = type12_q1.vlan && type16_q1.vlan;
  type_t type_1;
  logic [7:0] first_1;  // byte of layer 3
  always_comb begin
    type_1  = type12_q1;
    first_1 = head_q1[14];
    if (one_tag) begin
      type_1  = type16_q1;
      first_1 = head_q1[18];
    end
    if (two_tags) begin
      type_1  = type20_q1;
      first_1 = head_q1[22];
    end
  end
  always_ff @(posedge clk_i) begin
    l3_q2    <= head_q1[127:14];
    ether_q2 <= 5'd14;
    if (one_tag) begin
      l3_q2    <= {32'd0, head_q1[127:18]};
      ether_q2 <= 5'd18;
    end
    if (two_tags) begin
      l3_q2    <= {64'd0, head_q1[127:22]};
      ether_q2 <= 5'd22;
    end
    ip4_q2   <= type_1.ip4 && first_1[7:4] == 4'd4 && first_1[3:0] >= 4'd5;
    ip6_q2   <= type_1.ip6 && first_1[7:4] == 4'd6;
    more_q2  <= type_1.ip6 ? 4'd5 : first_1[3:0] - 4'd5;
    bytes_q2 <= (({4'd0, eights_q1[0]} + {4'd0, eights_q1[1]}) +
        ({4'd0, eights_q1[2]} + {4'd0, eights_q1[3]})) +
        (({4'd0, eights_q1[4]} + {4'd0, eights_q1[5]}) +
        ({4'd0, eights_q1[6]} + {4'd0, eights_q1[7]})) + {1'b0, two_q1, 6'd0};
  end

  // 3: the IP header; shift layer 4 to the front.
  wire [L4Bytes-1:0][7:0] l3_0 = l3_q2[20+:L4Bytes];
  wire [L4Bytes-1:0][7:0] l3_1 = more_q2[0] ? {32'd0, l3_0[L4Bytes-1:4]} : l3_0;
  wire [L4Bytes-1:0][7:0] l3_2 = more_q2[1] ? {64'd0, l3_1[L4Bytes-1:8]} : l3_1;
  wire [L4Bytes-1:0][7:0] l3_4 = more_q2[2] ? {128'd0, l3_2[L4Bytes-1:16]} : l3_2;
  wire [L4Bytes-1:0][7:0] l3_8 = more_q2[3] ? {256'd0, l3_4[L4Bytes-1:32]} : l3_4;
  wire [7:0] protocol = ip6_q2 ? l3_q2[6] : l3_q2[9];

  logic [L4Bytes-1:0][7:0] l4_q3;
  logic [7:0] have_q3, protocol_q3, ip_bytes_q3;  // have: captured bytes of layer 3
  logic [15:0] length_q3;  // the IP length field: IPv4 with its header, IPv6 without
  logic ip_q3, six_q3, udp_q3, tcp_q3, icmp_q3;
  logic [127:0] src_q3, dst_q3;
  always_ff @(posedge clk_i) begin
    l4_q3       <= l3_8;
    have_q3     <= bytes_q2 < {3'd0, ether_q2} ? 8'd0 : bytes_q2 - {3'd0, ether_q2};
    ip_bytes_q3 <= 8'd20 + {2'd0, more_q2, 2'd0};
    six_q3      <= ip6_q2;
    ip_q3       <= ip6_q2 || (ip4_q2 && ({l3_q2[6], l3_q2[7]} & 16'h3fff) == 16'd0);  // no fragment
    protocol_q3 <= protocol;
    udp_q3      <= protocol == Udp;
    tcp_q3      <= protocol == Tcp;
    icmp_q3     <= protocol == (ip6_q2 ? Icmp6 : Icmp4);
    length_q3   <= ip6_q2 ? {l3_q2[4], l3_q2[5]} : {l3_q2[2], l3_q2[3]};
    src_q3      <= ip6_q2 ? l3_q2[23:8] : {96'd0, l3_q2[15:12]};
    dst_q3      <= ip6_q2 ? l3_q2[39:24] : {96'd0, l3_q2[19:16]};
  end

  // 4: the layer 4 header; the tag's position; the first half of the flow's CRC.
  wire [7:0] request = six_q3 ? 8'd128 : 8'd8, reply = six_q3 ? 8'd129 : 8'd0;
  wire [15:0] sport = {l4_q3[0], l4_q3[1]}, dport = {l4_q3[2], l4_q3[3]};
  wire [15:0] lport = swap_q ? dport : sport, rport = swap_q ? sport : dport;
  wire [7:0] tcp_bytes = {2'd0, l4_q3[12][7:4], 2'd0};

  logic udp_q4, tcp_q4, echo_q4, ports_q4, syn_q4, fin_q4, rst_q4, ack_q4;
  logic [L4Bytes-1:0][7:0] l4_q4;
  logic [7:0] have_q4, tcp_bytes_q4, tag_at_q4, protocol_q4;  // have: of layer 4
  logic [15:0] length_q4, lport_q4, rport_q4;
  logic [31:0] local_crc_q4, remote_crc_q4;
  logic ip_q4, short_q4;
  always_ff @(posedge clk_i) begin
    ip_q4        <= ip_q3;
    short_q4     <= have_q3 < ip_bytes_q3 || (!six_q3 && length_q3 < {8'd0, ip_bytes_q3});
    have_q4      <= have_q3 - ip_bytes_q3;
    length_q4    <= six_q3 ? length_q3 : length_q3 - {8'd0, ip_bytes_q3};
    udp_q4       <= udp_q3;
    tcp_q4       <= tcp_q3 && l4_q3[12][7:4] >= 4'd5;
    echo_q4      <= icmp_q3 && l4_q3[0] == (swap_q ? reply : request) && l4_q3[1] == 8'd0;
    ports_q4     <= (any_local_q || cfg_q.local_port == lport) &&
        (any_remote_q || cfg_q.remote_port == rport);
    tcp_bytes_q4 <= tcp_bytes;
    tag_at_q4    <= (udp_q3 ? 8'd8 : tcp_bytes) + {1'b0, cfg_q.tag_offset};
    {ack_q4, rst_q4, syn_q4, fin_q4} <= {
      l4_q3[13][4], l4_q3[13][2], l4_q3[13][1], l4_q3[13][0]
    };
    l4_q4         <= l4_q3;
    lport_q4      <= lport;
    rport_q4      <= rport;
    protocol_q4   <= protocol_q3;
    local_crc_q4  <= crc({128'd0, swap_q ? dst_q3 : src_q3});
    remote_crc_q4 <= crc({swap_q ? src_q3 : dst_q3, 128'd0});
  end

  // 5: check captured bytes against header lengths; shift the tag to within 16 bytes.
  logic ip_q5, udp_q5, tcp_q5, echo_q5, ports_q5, syn_q5, fin_q5, rst_q5, ack_q5;
  logic have8_q5, have20_q5, have_tag_q5, length8_q5, length_tcp_q5, length_tag_q5;
  logic [15:0] payload_q5, lport_q5, rport_q5;
  logic [31:0] mix_q5, seq_q5, acked_q5;
  logic [18:0][7:0] tag_q5;
  logic [3:0] tag_at_q5;
  wire [L4Bytes-1:0][7:0] l4_1 = tag_at_q4[4] ? {128'd0, l4_q4[L4Bytes-1:16]} : l4_q4;
  wire [82:0][7:0] l4_2 = tag_at_q4[5] ? {168'd0, l4_1[L4Bytes-1:32]} : l4_1[82:0];
  wire [18:0][7:0] l4_4 = tag_at_q4[6] ? l4_2[82:64] : l4_2[18:0];
  wire [7:0] tag_end = tag_at_q4 + 8'd4;
  always_ff @(posedge clk_i) begin
    ip_q5         <= ip_q4 && !short_q4;
    {udp_q5, tcp_q5, echo_q5, ports_q5}   <= {udp_q4, tcp_q4, echo_q4, ports_q4};
    {ack_q5, rst_q5, syn_q5, fin_q5}      <= {ack_q4, rst_q4, syn_q4, fin_q4};
    {lport_q5, rport_q5}                  <= {lport_q4, rport_q4};
    have8_q5      <= have_q4 >= 8'd8;
    have20_q5     <= have_q4 >= 8'd20;
    have_tag_q5   <= have_q4 >= tag_end;
    length8_q5    <= length_q4 >= 16'd8;
    length_tcp_q5 <= length_q4 >= {8'd0, tcp_bytes_q4};
    length_tag_q5 <= length_q4 >= {8'd0, tag_end};
    payload_q5    <= length_q4 - {8'd0, tcp_bytes_q4};
    mix_q5        <= local_crc_q4 ^ remote_crc_q4 ^ {24'd0, protocol_q4};
    seq_q5        <= {l4_q4[4], l4_q4[5], l4_q4[6], l4_q4[7]};
    acked_q5      <= {l4_q4[8], l4_q4[9], l4_q4[10], l4_q4[11]};
    tag_at_q5     <= tag_at_q4[3:0];
    tag_q5        <= l4_4;
  end

  // 6: the kind of packet; the tag; the sequence space of a segment.
  logic udp_q6, tcp_q6, echo_q6, tagged_q6, ports_q6, syn_q6, rst_q6, ack_q6;
  logic [15:0] lport_q6, rport_q6;
  logic [31:0] mix_q6, seq_q6, acked_q6, tag_q6;
  logic [16:0] taken_q6;
  wire udp = ip_q5 && udp_q5 && have8_q5 && length8_q5;
  wire tcp = ip_q5 && tcp_q5 && have20_q5 && length_tcp_q5;
  wire [3:0][7:0] tag = tag_q5[tag_at_q5+:4];
  always_ff @(posedge clk_i) begin
    udp_q6    <= udp;
    tcp_q6    <= tcp;
    echo_q6   <= ip_q5 && echo_q5 && have8_q5 && length8_q5;
    tagged_q6 <= (udp || tcp) && have_tag_q5 && length_tag_q5;
    {ports_q6, ack_q6, rst_q6, syn_q6} <= {ports_q5, ack_q5, rst_q5, syn_q5};
    {lport_q6, rport_q6, mix_q6}       <= {lport_q5, rport_q5, mix_q5};
    {seq_q6, acked_q6}                 <= {seq_q5, acked_q5};
    taken_q6  <= {1'b0, payload_q5} + {16'd0, syn_q5} + {16'd0, fin_q5};
    tag_q6    <= {tag[0], tag[1], tag[2], tag[3]};
  end

  // 7: whether it counts, and its key.
  event_t event_q7;
  always_ff @(posedge clk_i) begin
    event_q7 <= '{
        counts: 1'b0, key: '{flow: {mix_q6, lport_q6, rport_q6}, value: 32'd0}, seq: seq_q6,
        syn: syn_q6, stamp: stamp_q[Latency-2]
    };
    case (cfg_q.mode)
      ModeAny: begin
        event_q7.counts <= cfg_q.enable;
        event_q7.key    <= '0;
      end
      ModeUdp: event_q7.counts <= cfg_q.enable && udp_q6 && ports_q6;
      ModeIcmp: begin
        event_q7.counts <= cfg_q.enable && echo_q6;
        event_q7.key    <= '{flow: {mix_q6, 32'd0}, value: seq_q6};  // ICMP id and sequence
      end
      ModeTag: begin
        event_q7.counts    <= cfg_q.enable && tagged_q6 && ports_q6;
        event_q7.key.value <= tag_q6;
      end
      ModeTcp: begin
        if (swap_q) begin
          event_q7.counts    <= cfg_q.enable && tcp_q6 && ports_q6 && ack_q6 && !rst_q6;
          event_q7.key.value <= acked_q6;
        end else begin
          event_q7.counts    <= cfg_q.enable && tcp_q6 && ports_q6 && !rst_q6 && taken_q6 != '0;
          event_q7.key.value <= seq_q6 + {15'd0, taken_q6};
        end
      end
      default: event_q7.counts <= 1'b0;
    endcase
  end

  assign event_o = event_q7;

endmodule

`resetall
