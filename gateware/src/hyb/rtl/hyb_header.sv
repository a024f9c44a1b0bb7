// SPDX-License-Identifier: Apache-2.0
// hyb_header.sv - header unit (S2.10 F2): writes the headers of Ethernet, IP and TCP into a slot, with
// their checksums, and sends the frame when its payload is there. The processor writes the constant
// part of a flow's headers once, the template, and a descriptor for each frame.
//
// A template has 64 bytes:
//   0      headers of Ethernet and IP and the ports, as in a frame: 38 bytes, of IPv6 58. TOS, lengths
//          and checksum of IPv4 are not read. IPv4: the ID is 0, DF is set.
//   60     IPv4: sum of the IP header without TOS, total length and checksum
//   62     sum of the TCP pseudo-header without the length, and of the ports
// Sums are those of hyb_pcu.sv: of little-endian words, folded.
//
// Frames leave in the order of their descriptors. One takes a cycle for each 8 bytes of headers, which
// passes while the DFU fetches its payload, and four more.
`resetall
`default_nettype none

module hyb_header #(
  parameter int unsigned SlotBits = 4,
  parameter int unsigned SlotLog = 11,
  parameter int unsigned FlowBits = 6
) (
  input  wire                        clk_i,
  input  wire                        rst_ni,

  // a word of a template
  input  wire                        template_i,
  input  wire [FlowBits+3:0]         template_word_i,
  input  wire [31:0]                 template_data_i,

  // a descriptor; at most one of each slot is under way
  input  wire                        go_i,
  input  wire [FlowBits-1:0]         flow_i,
  input  wire                        v6_i,
  input  wire                        stamps_i,
  input  wire [31:0]                 seq_i,
  input  wire [31:0]                 ack_i,
  input  wire [31:0]                 val_i,
  input  wire [31:0]                 ecr_i,
  input  wire [15:0]                 window_i,
  input  wire [7:0]                  flags_i,
  input  wire [7:0]                  tos_i,
  input  wire [SlotBits-1:0]         slot_i,
  input  wire [SlotLog-1:0]          length_i,
  output wire [SlotLog-1:0]          offset_o,   // of its payload in the slot, with go_i
  output wire                        busy_o,

  // of the DFU and the PCU
  input  wire [2**SlotBits-1:0]       done_i,
  input  wire [2**SlotBits-1:0]       bad_i,
  input  wire [2**SlotBits-1:0][15:0] psum_i,

  // a write of lanes of a line of the slots; repeated while stall_i
  input  wire                        stall_i,
  output logic [7:0]                 write_o,
  output wire [SlotBits-1:0]         slot_o,
  output logic [SlotLog-4:0]         line_o,
  output logic [63:0]                data_o,

  // the frame leaves, or its payload is not there and the slot is freed; repeated while *_stall_i
  input  wire                        leave_stall_i,
  output wire                        leave_o,
  output wire [SlotLog:0]            length_o,
  input  wire                        free_stall_i,
  output wire                        free_o
);

  typedef struct packed {
    logic [FlowBits-1:0] flow;
    logic                v6;
    logic                stamps;
    logic [31:0]         seq;
    logic [31:0]         ack;
    logic [31:0]         val;
    logic [31:0]         ecr;
    logic [15:0]         window;
    logic [7:0]          flags;
    logic [7:0]          tos;
    logic [SlotBits-1:0] slot;
    logic [SlotLog-1:0]  length;
  } job_t;

  // ---- sizes: where TCP begins, and the payload ----
  localparam int unsigned Tcp4 = 34, Tcp6 = 54, Tcp = 20, Stamps = 12;

  function automatic logic [6:0] headers(input logic v6, input logic stamps);
    return (v6 ? 7'(Tcp6) : 7'(Tcp4)) + 7'(Tcp) + (stamps ? 7'(Stamps) : 7'd0);
  endfunction

  job_t job_in, job;
  logic job_valid;
  logic [SlotBits:0] job_room;
  assign job_in = '{
      flow: flow_i, v6: v6_i, stamps: stamps_i, seq: seq_i, ack: ack_i, val: val_i, ecr: ecr_i,
      window: window_i, flags: flags_i, tos: tos_i, slot: slot_i, length: length_i
  };
  assign offset_o = SlotLog'(headers(v6_i, stamps_i));

  wire ends;
  toe_fifo #(.Width($bits(job_t)), .AddrBits(SlotBits)) u_jobs (
    .clk_i, .rst_ni, .push_i(go_i && job_room != '0), .data_i(job_in), .room_o(job_room),
    .valid_o(job_valid), .pop_i(ends), .data_o(job)
  );
  assign busy_o = job_valid;

  // ---- steps ----
  typedef enum logic [2:0] {
    Sums,    // the template's last line is read
    First,   // ... and is there: its sums
    Lines,   // a line of headers each
    Wait,    // for the payload
    Patch,   // the checksum of TCP
    Leave,
    Free
  } step_e;
  step_e step_q;
  logic [3:0] line_q;
  logic [15:0] ip_sum_q, sum_q;

  wire [6:0] size = headers(job.v6, job.stamps);
  wire [15:0] tcp_length = 16'(job.length) + 16'(Tcp) + (job.stamps ? 16'(Stamps) : 16'd0);
  wire last_line = {line_q, 3'd7} >= size - 7'd1;
  wire fetched = job.length == '0 || done_i[job.slot];
  wire bad = job.length != '0 && bad_i[job.slot];

  assign leave_o = step_q == Leave;
  assign free_o = step_q == Free;
  assign ends = (leave_o && !leave_stall_i) || (free_o && !free_stall_i);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      step_q <= Sums;
      line_q <= '0;
    end else begin
      unique case (step_q)
        Sums: if (job_valid) step_q <= First;
        First: begin
          step_q <= Lines;
          line_q <= '0;
        end
        Lines:
          if (!stall_i) begin
            line_q <= line_q + 1'b1;
            if (last_line) step_q <= Wait;
          end
        Wait: if (fetched) step_q <= bad ? Free : Patch;
        Patch: if (!stall_i) step_q <= Leave;
        default: if (ends) step_q <= Sums;
      endcase
    end
  end

  // ---- templates: the line that the next cycle uses ----
  logic [2:0] read_line;
  always_comb begin
    unique case (step_q)
      Sums: read_line = 3'd7;
      First: read_line = 3'd0;
      default: read_line = stall_i ? line_q[2:0] : line_q[2:0] + 3'd1;
    endcase
  end

  wire [63:0] template_line;
  for (genvar h = 0; h < 2; h++) begin : gen_half
    sdp_ram #(.Width(32), .AddrBits(FlowBits + 3)) u_templates (
      .clk_i,
      .write_i(template_i && template_word_i[0] == 1'(h)),
      .waddr_i(template_word_i[FlowBits+3:1]),
      .wdata_i(template_data_i),
      .raddr_i({job.flow, read_line}),
      .rdata_o(template_line[32*h+:32])
    );
  end

  // ---- the bytes of a line ----
  function automatic logic [15:0] swap(input logic [15:0] word);
    return {word[7:0], word[15:8]};
  endfunction

  // Of TCP from the sequence number on, first byte first; the checksum is 0 until it is known.
  wire [27:0][7:0] varying = {
      job.seq, job.ack, 4'd5 + (job.stamps ? 4'd3 : 4'd0), 4'd0, job.flags, job.window, 16'd0,
      16'd0, 32'h0101_080a, job.val, job.ecr
  };
  wire [6:0] tcp_at = job.v6 ? 7'(Tcp6) : 7'(Tcp4);
  wire [15:0] ip_length = tcp_length + (job.v6 ? 16'd0 : 16'd20);

  logic [7:0][7:0] bytes;
  logic [7:0] present, of_tcp;
  always_comb begin
    for (int l = 0; l < 8; l++) begin
      logic [6:0] at;
      logic [4:0] from;
      at = {line_q, 3'(l)};
      from = 5'(at - (tcp_at + 7'd4));
      present[l] = at < size;
      of_tcp[l] = present[l] && at >= tcp_at + 7'd4;
      bytes[l] = of_tcp[l] ? varying[5'd27-from] : template_line[8*l+:8];
    end
    if (line_q == 4'd1) begin
      if (job.v6) bytes[6] = {4'h6, job.tos[7:4]};
      bytes[7] = job.v6 ? {job.tos[3:0], template_line[59:56]} : job.tos;
    end
    if (line_q == 4'd2) begin
      if (job.v6) {bytes[2], bytes[3]} = ip_length;
      else {bytes[0], bytes[1]} = ip_length;
    end
    if (line_q == 4'd3 && !job.v6) {bytes[1], bytes[0]} = ~ip_sum_q;
  end

  // ---- sums: in a cycle the words of a line, or of the lengths, or of the payload ----
  function automatic logic [15:0] fold(input logic [18:0] wide);
    logic [16:0] once;
    once = 17'(wide[15:0]) + 17'(wide[18:16]);
    return once[15:0] + 16'(once[16]);
  endfunction

  logic [15:0] line_sum, checksum;
  always_comb begin
    logic [18:0] wide;
    wide = 19'(sum_q);
    for (int i = 0; i < 4; i++)
      wide += of_tcp[2*i] ? 19'({bytes[2*i+1], bytes[2*i]}) : 19'd0;
    line_sum = fold(wide);
    checksum = ~fold(19'(sum_q) + 19'(psum_i[job.slot]));
  end

  always_ff @(posedge clk_i) begin
    if (step_q == First) begin
      sum_q <= fold(19'(template_line[63:48]) + 19'(swap(tcp_length)));
      ip_sum_q <= fold(19'(template_line[47:32]) + 19'(swap(ip_length)) + 19'({job.tos, 8'd0}));
    end else if (step_q == Lines && !stall_i) begin
      sum_q <= line_sum;
    end
  end

  // ---- the write: a line, or the checksum of TCP, in lanes 2 and 3 of line 6, of IPv6 6 and 7 of 8 ----
  assign slot_o = job.slot;
  assign length_o = (SlotLog + 1)'(size) + (SlotLog + 1)'(job.length);
  always_comb begin
    write_o = '0;
    line_o = (SlotLog - 3)'(line_q);
    data_o = bytes;
    if (step_q == Lines) begin
      write_o = present;
    end else if (step_q == Patch) begin
      write_o = job.v6 ? 8'b1100_0000 : 8'b0000_1100;
      line_o = job.v6 ? (SlotLog - 3)'(8) : (SlotLog - 3)'(6);
      data_o = {4{checksum}};
    end
  end

endmodule

`resetall
