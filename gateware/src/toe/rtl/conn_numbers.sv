// SPDX-License-Identifier: Apache-2.0
// conn_numbers.sv - initial sequence numbers (RFC 6528), timestamp offsets and local ports (RFC 6056,
// algorithm 3) of toe_conn, from one keyed hash.
`resetall
`default_nettype none

module conn_numbers
  import toe_pkg::*;
  import conn_pkg::*;
(
  input  wire         clk_i,
  input  wire         rst_ni,
  input  wire now_t   now_i,
  input  wire [127:0] secret_i,
  input  wire work_t  work_i,
  output wire         done_o,        // the hash of this step is there
  output wire seq_t   iss_o,
  output wire [31:0]  ts_offset_o,
  output wire [15:0]  port_o
);

  localparam logic [15:0] PortFirst = 16'd32768;
  localparam logic [15:0] PortCount = 16'd28232;

  logic [63:0] sum;
  toe_siphash siphash (
    .clk_i, .rst_ni, .key_i(secret_i),
    .start_i(work_i.step == Hash || (work_i.step == ConnectPort && !work_i.fixed_port)),
    .tuple_i(work_i.tuple),
    .word_i((work_i.step == Hash) ? 32'd0 : 32'd1), .done_o, .sum_o(sum)
  );
  assign ts_offset_o = sum[63:32];

  // A clock of 4 us and the hash; in TIME-WAIT at least what the old connection permits.
  wire seq_t hashed = sum[31:0] + now_i.ns[43:12];
  assign iss_o = (work_i.iss_least_ok && seq_lt(hashed, work_i.iss_least)) ? work_i.iss_least
                                                                           : hashed;

  // A hash of the destination, mapped to the range of ports, and a count.
  logic [15:0] offset_q, next_q;     // below PortCount
  wire [31:0] port_hashed = 32'(sum[15:0]) * 32'(PortCount);
  wire [16:0] port_sum = 17'(offset_q) + 17'(next_q);
  assign port_o = PortFirst + ((port_sum >= 17'(PortCount)) ? 16'(port_sum - 17'(PortCount))
                                                            : 16'(port_sum));
  always_ff @(posedge clk_i) begin
    if (work_i.step == ConnectHash && done_o) offset_q <= port_hashed[31:16];
    if (!rst_ni) next_q <= '0;
    else if (work_i.step == ConnectTry)
      next_q <= (next_q == PortCount - 16'd1) ? 16'd0 : next_q + 16'd1;
  end

endmodule

`resetall
