// SPDX-License-Identifier: Apache-2.0
// conn_route.sv - the route of a CONNECT: destination, next hop, source address. In three steps, so
// that none is long: address and masks; whether it is on-link and valid; the next hop and whether there
// is one. The result is valid three cycles after the command.
`resetall
`default_nettype none

module conn_route
  import toe_pkg::*;
  import toe_cmd_pkg::*;
(
  input  wire         clk_i,
  input  wire cmd_t   cmd_i,
  input  wire entry_t entry_i,
  input  wire own_t   own_i,
  output wire tuple_t tuple_o,   // in the same cycle; local port 0: toe_conn selects one
  output wire addr_t  hop_o,
  output wire         bad_o      // unreachable
);

  wire c_v6 = (cmd_flags(cmd_i) & ConnectV6) != 7'd0;
  wire v4_mapped = entry_i.remote[127:32] == 96'hffff;
  wire v6 = c_v6 && !v4_mapped;
  wire addr_t to = c_v6 ? (v4_mapped ? 128'(entry_i.remote[31:0]) : entry_i.remote)
                        : 128'(cmd_arg0(cmd_i));
  wire link_local = to[127:118] == 10'b1111_1110_10;

  // The address, and the prefix of ours that an on-link address shares.
  logic v6_q, link_local_q;
  addr_t to_q, differs6_q, mask6_q;
  logic [31:0] differs4_q, mask4_q;
  always_ff @(posedge clk_i) begin
    v6_q <= v6;
    link_local_q <= link_local;
    to_q <= to;
    differs6_q <= to ^ own_i.ip6;
    differs4_q <= to[31:0] ^ own_i.ip4;
    mask6_q <= '1 << (8'd128 - own_i.ip6_prefix);
    mask4_q <= (own_i.ip4_prefix == 6'd0) ? 32'd0 : (32'hffff_ffff << (6'd32 - own_i.ip4_prefix));
  end

  // On-link? A host's address, or that of a network?
  logic v6_q2, on_link_q, nobody_q, net_q;
  addr_t to_q2;
  always_ff @(posedge clk_i) begin
    v6_q2 <= v6_q;
    to_q2 <= to_q;
    on_link_q <= v6_q ? (link_local_q || (differs6_q & mask6_q) == '0)
                      : (differs4_q & mask4_q) == 32'd0;
    nobody_q <= v6_q ? (to_q[127:120] == 8'hff || to_q == '0)
                     : (to_q[31:28] >= 4'he || to_q[31:0] == 32'd0);
    net_q <= !v6_q && own_i.ip4_prefix < 6'd31 && ((to_q[31:0] & ~mask4_q) == ~mask4_q);
  end

  addr_t hop_q;
  logic bad_q, no_gateway4_q, no_gateway6_q;
  always_ff @(posedge clk_i) begin
    no_gateway4_q <= own_i.ip4_gateway == 32'd0;
    no_gateway6_q <= own_i.ip6_gateway == '0;
    hop_q <= on_link_q ? to_q2 : (v6_q2 ? own_i.ip6_gateway : 128'(own_i.ip4_gateway));
    bad_q <= nobody_q || (on_link_q && net_q) || (v6_q2 && !own_i.ip6_on) ||
             (!on_link_q && (v6_q2 ? no_gateway6_q : no_gateway4_q));
  end
  assign hop_o = hop_q;
  assign bad_o = bad_q;

  tuple_t tuple;
  always_comb begin
    tuple.v6 = v6;
    tuple.remote = to;
    tuple.own = v6 ? (link_local ? own_i.ip6_link : own_i.ip6) : 128'(own_i.ip4);
    tuple.remote_port = cmd_aux(cmd_i);
    tuple.local_port = 16'(cmd_arg1(cmd_i));
  end
  assign tuple_o = tuple;

endmodule

`resetall
