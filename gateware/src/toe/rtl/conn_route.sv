// SPDX-License-Identifier: Apache-2.0
// conn_route.sv - where a CONNECT goes, by whom, and from which address of ours.
`resetall
`default_nettype none

module conn_route
  import toe_pkg::*;
  import toe_cmd_pkg::*;
(
  input  wire cmd_t   cmd_i,
  input  wire entry_t entry_i,
  input  wire own_t   own_i,
  output wire tuple_t tuple_o,   // local port 0: to be chosen
  output wire addr_t  hop_o,
  output wire         bad_o      // nobody is reached so
);

  wire c_v6 = (cmd_flags(cmd_i) & ConnectV6) != 7'd0;
  wire v4_mapped = entry_i.remote[127:32] == 96'hffff;
  wire v6 = c_v6 && !v4_mapped;
  wire addr_t to = c_v6 ? (v4_mapped ? 128'(entry_i.remote[31:0]) : entry_i.remote)
                        : 128'(cmd_arg0(cmd_i));
  wire [31:0] mask4 = (own_i.ip4_prefix == 6'd0) ? 32'd0
                                                 : (32'hffff_ffff << (6'd32 - own_i.ip4_prefix));
  wire addr_t mask6 = '1 << (8'd128 - own_i.ip6_prefix);
  wire link_local = to[127:118] == 10'b1111_1110_10;
  wire on_link = v6 ? (link_local || ((to ^ own_i.ip6) & mask6) == '0)
                    : ((to[31:0] ^ own_i.ip4) & mask4) == 32'd0;
  wire addr_t hop = on_link ? to : (v6 ? own_i.ip6_gateway : 128'(own_i.ip4_gateway));
  wire not_unicast = v6 ? (to[127:120] == 8'hff || to == '0)
                        : (to[31:28] >= 4'he || to[31:0] == 32'd0 ||
                           (on_link && own_i.ip4_prefix < 6'd31 &&
                            ((to[31:0] & ~mask4) == ~mask4)));

  tuple_t tuple;
  always_comb begin
    tuple.v6 = v6;
    tuple.remote = to;
    tuple.own = v6 ? (link_local ? own_i.ip6_link : own_i.ip6) : 128'(own_i.ip4);
    tuple.remote_port = cmd_aux(cmd_i);
    tuple.local_port = 16'(cmd_arg1(cmd_i));
  end
  assign tuple_o = tuple;
  assign hop_o = hop;
  assign bad_o = not_unicast || hop == '0 || (v6 && !own_i.ip6_on);

endmodule

`resetall
