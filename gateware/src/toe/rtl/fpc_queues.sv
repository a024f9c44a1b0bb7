// SPDX-License-Identifier: Apache-2.0
// fpc_queues.sv - where the results of an FPC's passes wait: for toe_dmaw, toe_tx and toe_conn, and the
// lists of flows with something to report or to send. Each flow is at most once in either list.
`resetall
`default_nettype none

module fpc_queues
  import toe_pkg::*;
  import fpc_pkg::*;
#(
  parameter int unsigned IndexBits = 8   // flows of this FPC: 2^IndexBits
) (
  input  wire         clk_i,
  input  wire         rst_ni,
  input  wire out_t   out_i,           // the pass that leaves the pipeline
  output wire         room_o,          // for all events in the pipeline and one more

  input  wire [63:0]  gone_i,          // queue pairs to which nothing is reported any more
  input  wire         drain_i,         // entries for toe_dmaw and toe_tx that wait now ...
  output wire         draining_o,      // ... have not left yet

  output wire            write_valid_o,
  input  wire            write_ready_i,
  output wire write_t    write_o,
  output wire            tx_valid_o,
  input  wire            tx_ready_i,
  output wire tx_desc_t  tx_o,
  output wire            conn_valid_o,
  input  wire            conn_ready_i,
  output wire conn_msg_t conn_o,

  // Credit for one entry of the HW ring of ask_qp_o; taken before a report.
  output wire         ask_o,
  output wire qp_t    ask_qp_o,
  input  wire         grant_i,
  input  wire         refuse_i,        // there is none for now
  output wire         take_o,

  output wire          tell_valid_o,
  input  wire          tell_pop_i,
  output wire listed_t tell_o,
  output wire          tell_placed_o,  // it has room in its HW ring
  output wire          send_valid_o,
  input  wire          send_pop_i,
  output wire listed_t send_o
);

  localparam int unsigned OutBits = 5;

  logic [OutBits:0] write_room, tx_room, conn_room;
  wire write_goes = write_valid_o && write_ready_i;
  wire tx_goes = tx_valid_o && tx_ready_i;

  // The events in the pipeline, and the one that starts now.
  localparam logic [OutBits:0] Needed = (OutBits + 1)'(Stages + 1);
  assign room_o = write_room > Needed && tx_room > Needed && conn_room > Needed;

  toe_fifo #(.Width($bits(write_t)), .AddrBits(OutBits)) writes (
    .clk_i, .rst_ni,
    .push_i(out_i.write_ok), .data_i(out_i.write), .room_o(write_room),
    .valid_o(write_valid_o), .pop_i(write_goes), .data_o(write_o)
  );
  toe_fifo #(.Width($bits(tx_desc_t)), .AddrBits(OutBits)) segments (
    .clk_i, .rst_ni,
    .push_i(out_i.tx_ok), .data_i(out_i.tx), .room_o(tx_room),
    .valid_o(tx_valid_o), .pop_i(tx_goes), .data_o(tx_o)
  );
  toe_fifo #(.Width($bits(conn_msg_t)), .AddrBits(OutBits)) messages (
    .clk_i, .rst_ni,
    .push_i(out_i.conn_ok), .data_i(out_i.conn), .room_o(conn_room),
    .valid_o(conn_valid_o), .pop_i(conn_valid_o && conn_ready_i), .data_o(conn_o)
  );

  // Entries that these queues held at drain_i.
  logic [OutBits:0] old_writes_q, old_segments_q;
  localparam logic [OutBits:0] Depth = (OutBits + 1)'(1) << OutBits;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      old_writes_q <= '0;
      old_segments_q <= '0;
    end else if (drain_i) begin
      old_writes_q <= Depth - write_room - (OutBits + 1)'(write_goes);
      old_segments_q <= Depth - tx_room - (OutBits + 1)'(tx_goes);
    end else begin
      if (write_goes && old_writes_q != '0) old_writes_q <= old_writes_q - 1'b1;
      if (tx_goes && old_segments_q != '0) old_segments_q <= old_segments_q - 1'b1;
    end
  end
  assign draining_o = old_writes_q != '0 || old_segments_q != '0;

  // ---- the lists of flows ----

  logic [IndexBits:0] send_room;
  logic [1:0] sends_room;
  logic send_listed;
  listed_t listed, send_first;
  assign listed.flow = out_i.flow;
  assign listed.qp = out_i.t.qp;
  wire send_moves = send_listed && sends_room != 2'd0;

  toe_fifo #(.Width($bits(listed_t)), .AddrBits(IndexBits)) send_list (
    .clk_i, .rst_ni,
    .push_i(out_i.push_send), .data_i(listed), .room_o(send_room),
    .valid_o(send_listed), .pop_i(send_moves), .data_o(send_first)
  );
  // The next two flows wait in a queue of their own: the output of a large list is slow.
  toe_fifo #(.Width($bits(listed_t)), .AddrBits(1)) sends (
    .clk_i, .rst_ni,
    .push_i(send_moves), .data_i(send_first), .room_o(sends_room),
    .valid_o(send_valid_o), .pop_i(send_pop_i), .data_o(send_o)
  );
  fpc_tell #(.IndexBits(IndexBits)) tells (
    .clk_i, .rst_ni, .gone_i,
    .push_i(out_i.push_tell), .flow_i(listed.flow), .qp_i(listed.qp),
    .ask_o, .ask_qp_o, .grant_i, .refuse_i, .take_o,
    .valid_o(tell_valid_o), .pop_i(tell_pop_i), .flow_o(tell_o.flow), .qp_o(tell_o.qp),
    .placed_o(tell_placed_o)
  );

  wire unused = &{1'b0, send_room};

endmodule

`resetall
