// SPDX-License-Identifier: Apache-2.0
// rtt_parse.sv - from the start of a packet to what it means for the measurement: is it a probe (or
// an answer, where packets arrive), and of which key. Ethernet, up to two VLAN tags, IPv4 with
// options, IPv6 without extension headers, UDP, TCP, ICMP echo. One packet a cycle, six cycles
// later. Fragments and what is cut short are packets, and no more.
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
  localparam int unsigned Latency = 6;
  localparam int unsigned L3Bytes = 114;  // of 128, behind the Ethernet header
  localparam int unsigned L4Bytes = 94;   // of those, behind the shortest IP header

  localparam logic [7:0] Icmp4 = 8'd1, Tcp = 8'd6, Udp = 8'd17, Icmp6 = 8'd58;

  logic [Latency-1:0] valid_q;
  always_ff @(posedge clk_i) begin
    valid_q <= {valid_q[Latency-2:0], valid_i};
    if (!rst_ni) valid_q <= '0;
  end
  assign valid_o = valid_q[Latency-1];

  logic [31:0] stamp_q[Latency-1];
  always_ff @(posedge clk_i) begin
    stamp_q[0] <= packet_i.stamp;
    for (int i = 1; i < int'(Latency) - 1; i++) stamp_q[i] <= stamp_q[i-1];
  end

  // 1: how long it is; how many VLAN tags.
  wire [127:0][7:0] head = packet_i.head;
  function automatic logic is_vlan(input logic [15:0] kind);
    return kind == 16'h8100 || kind == 16'h88a8;
  endfunction
  wire vlan1 = is_vlan({head[12], head[13]});
  wire vlan2 = vlan1 && is_vlan({head[16], head[17]});

  logic [127:0][7:0] head_q1;
  logic [7:0] bytes_q1;
  logic [1:0] tags_q1;
  logic [7:0] count;
  always_comb begin
    count = packet_i.two ? 8'd64 : 8'd0;
    for (int i = 0; i < 64; i++) count += {7'd0, packet_i.keep[i]};
  end
  always_ff @(posedge clk_i) begin
    head_q1  <= head;
    bytes_q1 <= count;
    tags_q1  <= {vlan2, vlan1 && !vlan2};
  end

  // 2: layer 3 to the front.
  logic [L3Bytes-1:0][7:0] l3_q2;
  logic [15:0] type_q2;
  logic [7:0] have_q2;  // bytes of l3 that are there
  always_ff @(posedge clk_i) begin
    case (tags_q1)
      2'b00: begin
        l3_q2   <= head_q1[127:14];
        type_q2 <= {head_q1[12], head_q1[13]};
        have_q2 <= bytes_q1 < 8'd14 ? 8'd0 : bytes_q1 - 8'd14;
      end
      2'b01: begin
        l3_q2   <= {32'd0, head_q1[127:18]};
        type_q2 <= {head_q1[16], head_q1[17]};
        have_q2 <= bytes_q1 < 8'd18 ? 8'd0 : bytes_q1 - 8'd18;
      end
      default: begin
        l3_q2   <= {64'd0, head_q1[127:22]};
        type_q2 <= {head_q1[20], head_q1[21]};
        have_q2 <= bytes_q1 < 8'd22 ? 8'd0 : bytes_q1 - 8'd22;
      end
    endcase
  end

  // 3: the IP header; layer 4 to the front.
  wire ip4 = type_q2 == 16'h0800 && l3_q2[0][7:4] == 4'd4 && l3_q2[0][3:0] >= 4'd5;
  wire ip6 = type_q2 == 16'h86dd && l3_q2[0][7:4] == 4'd6;
  wire [3:0] words = ip6 ? 4'd10 : l3_q2[0][3:0];  // of the IP header
  wire [7:0] ip_bytes = {2'd0, words, 2'd0};
  // Behind the header: a shift by 0 to 15 words more than the shortest header has, in four steps.
  wire [3:0] more = words - 4'd5;
  wire [L4Bytes-1:0][7:0] l3_0 = l3_q2[20+:L4Bytes];
  wire [L4Bytes-1:0][7:0] l3_1 = more[0] ? {32'd0, l3_0[L4Bytes-1:4]} : l3_0;
  wire [L4Bytes-1:0][7:0] l3_2 = more[1] ? {64'd0, l3_1[L4Bytes-1:8]} : l3_1;
  wire [L4Bytes-1:0][7:0] l3_4 = more[2] ? {128'd0, l3_2[L4Bytes-1:16]} : l3_2;
  wire [L4Bytes-1:0][7:0] l3_8 = more[3] ? {256'd0, l3_4[L4Bytes-1:32]} : l3_4;
  wire fragment = ({l3_q2[6], l3_q2[7]} & 16'h3fff) != 16'd0;

  logic [L4Bytes-1:0][7:0] l4_q3;
  logic [7:0] have_q3, protocol_q3;
  logic [15:0] length_q3;  // of layer 4, as IP says it
  logic ok_q3, six_q3;
  logic [127:0] src_q3, dst_q3;
  always_ff @(posedge clk_i) begin
    l4_q3   <= l3_8;
    have_q3 <= have_q2 - ip_bytes;
    six_q3  <= ip6;
    if (ip6) begin
      ok_q3       <= have_q2 >= 8'd40;
      protocol_q3 <= l3_q2[6];
      length_q3   <= {l3_q2[4], l3_q2[5]};
      src_q3      <= l3_q2[23:8];
      dst_q3      <= l3_q2[39:24];
    end else begin
      ok_q3       <= ip4 && !fragment && have_q2 >= ip_bytes &&
          {l3_q2[2], l3_q2[3]} >= {8'd0, ip_bytes};
      protocol_q3 <= l3_q2[9];
      length_q3   <= {l3_q2[2], l3_q2[3]} - {8'd0, ip_bytes};
      src_q3      <= {96'd0, l3_q2[15:12]};
      dst_q3      <= {96'd0, l3_q2[19:16]};
    end
  end

  // 4: the layer 4 header; where the tag is; the flow, half of it.
  // Seen from this side: of what leaves (and comes back itself) the source is local.
  wire swap = Arriving && !config_i.looped;
  wire udp = ok_q3 && protocol_q3 == Udp && have_q3 >= 8'd8 && length_q3 >= 16'd8;
  wire [7:0] tcp_bytes = {2'd0, l4_q3[12][7:4], 2'd0};
  wire tcp = ok_q3 && protocol_q3 == Tcp && have_q3 >= 8'd20 && l4_q3[12][7:4] >= 4'd5 &&
      length_q3 >= {8'd0, tcp_bytes};
  wire icmp = ok_q3 && protocol_q3 == (six_q3 ? Icmp6 : Icmp4) && have_q3 >= 8'd8 &&
      length_q3 >= 16'd8;
  wire [7:0] request = six_q3 ? 8'd128 : 8'd8, reply = six_q3 ? 8'd129 : 8'd0;
  wire echo = icmp && l4_q3[0] == (swap ? reply : request) && l4_q3[1] == 8'd0;
  wire [15:0] sport = {l4_q3[0], l4_q3[1]}, dport = {l4_q3[2], l4_q3[3]};
  wire [15:0] lport = swap ? dport : sport, rport = swap ? sport : dport;
  wire port_fits = (config_i.local_port == 16'd0 || config_i.local_port == lport) &&
      (config_i.remote_port == 16'd0 || config_i.remote_port == rport);
  wire [7:0] tag_at = (udp ? 8'd8 : tcp_bytes) + {1'b0, config_i.tag_offset};

  logic udp_q4, tcp_q4, echo_q4, ports_q4, tag_q4, syn_q4, fin_q4, rst_q4, ack_q4;
  logic [L4Bytes-1:0][7:0] l4_q4;
  logic [7:0] tag_at_q4, protocol_q4;
  logic [15:0] payload_q4, lport_q4, rport_q4;
  logic [31:0] local_crc_q4, remote_crc_q4;
  always_ff @(posedge clk_i) begin
    udp_q4    <= udp;
    tcp_q4    <= tcp;
    echo_q4   <= echo;
    ports_q4  <= port_fits;
    tag_at_q4 <= tag_at;
    tag_q4    <= (udp || tcp) && have_q3 >= tag_at + 8'd4 && length_q3 >= {8'd0, tag_at} + 16'd4;
    {ack_q4, rst_q4, syn_q4, fin_q4} <= {
      l4_q3[13][4], l4_q3[13][2], l4_q3[13][1], l4_q3[13][0]
    };
    payload_q4    <= length_q3 - {8'd0, tcp_bytes};
    l4_q4         <= l4_q3;
    lport_q4      <= lport;
    rport_q4      <= rport;
    protocol_q4   <= protocol_q3;
    local_crc_q4  <= crc({128'd0, swap ? dst_q3 : src_q3});
    remote_crc_q4 <= crc({swap ? src_q3 : dst_q3, 128'd0});
  end

  // 5: the flow; the end of a segment; the tag to within 16 bytes.
  logic counts_q5, tagged_q5, syn_q5;
  key_t key_q5;
  logic [31:0] seq_q5;
  logic [18:0][7:0] tag_q5;
  logic [3:0] tag_at_q5;
  wire [L4Bytes-1:0][7:0] l4_1 = tag_at_q4[4] ? {128'd0, l4_q4[L4Bytes-1:16]} : l4_q4;
  wire [82:0][7:0] l4_2 = tag_at_q4[5] ? {168'd0, l4_1[L4Bytes-1:32]} : l4_1[82:0];
  wire [18:0][7:0] l4_4 = tag_at_q4[6] ? l4_2[82:64] : l4_2[18:0];
  wire [31:0] seq = {l4_q4[4], l4_q4[5], l4_q4[6], l4_q4[7]};
  wire [31:0] ack = {l4_q4[8], l4_q4[9], l4_q4[10], l4_q4[11]};
  wire [31:0] seq_end = seq + {16'd0, payload_q4} + {31'd0, syn_q4} + {31'd0, fin_q4};
  wire [31:0] mix = local_crc_q4 ^ remote_crc_q4 ^ {24'd0, protocol_q4};
  always_ff @(posedge clk_i) begin
    tagged_q5 <= 1'b0;
    syn_q5    <= syn_q4;
    seq_q5    <= seq;
    key_q5    <= '{flow: {mix, lport_q4, rport_q4}, value: 32'd0};
    case (config_i.mode)
      ModeAny: begin
        counts_q5 <= 1'b1;
        key_q5    <= '0;
      end
      ModeUdp: counts_q5 <= udp_q4 && ports_q4;
      ModeIcmp: begin
        counts_q5 <= echo_q4;
        key_q5    <= '{flow: {mix, 32'd0}, value: {l4_q4[4], l4_q4[5], l4_q4[6], l4_q4[7]}};
      end
      ModeTag: begin
        counts_q5 <= tag_q4 && ports_q4;
        tagged_q5 <= 1'b1;
      end
      ModeTcp: begin
        if (swap) begin
          counts_q5    <= tcp_q4 && ports_q4 && ack_q4 && !rst_q4;
          key_q5.value <= ack;
        end else begin
          counts_q5    <= tcp_q4 && ports_q4 && !rst_q4 && seq_end != seq;
          key_q5.value <= seq_end;
        end
      end
      default: counts_q5 <= 1'b0;
    endcase
    if (!config_i.enable) counts_q5 <= 1'b0;

    tag_at_q5 <= tag_at_q4[3:0];
    tag_q5    <= l4_4;
  end

  // 6: the tag.
  event_t event_q6;
  wire [3:0][7:0] tag = tag_q5[tag_at_q5+:4];
  always_ff @(posedge clk_i) begin
    event_q6 <= '{counts: counts_q5, key: key_q5, seq: seq_q5, syn: syn_q5, stamp: stamp_q[4]};
    if (tagged_q5) event_q6.key.value <= {tag[0], tag[1], tag[2], tag[3]};
  end

  assign event_o = event_q6;

endmodule

`resetall
