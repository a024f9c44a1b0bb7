# SPDX-License-Identifier: Apache-2.0
# Serves files/: tclsh serve.tcl ADDRESS PORT. It listens again when a file `again` appears beside it.
proc accept {s address port} {
    fconfigure $s -blocking 0 -translation crlf -buffering full
    fileevent $s readable [list request $s]
}
proc request {s} {
    global wanted
    if {[catch {gets $s line} got]} {
        catch {close $s}
        return
    }
    if {$got < 0} {
        if {[eof $s]} {
            catch {close $s}
        }
        return
    }
    if {[regexp {^GET /(\d+) } $line -> number]} {
        set wanted($s) $number
    } elseif {$line eq "" && [info exists wanted($s)]} {
        set f [open [file join [file dirname [info script]] files $wanted($s)] rb]
        set body [read $f]
        close $f
        unset wanted($s)
        puts $s "HTTP/1.1 200 OK\nContent-Length: [string length $body]\n"
        fconfigure $s -translation {crlf binary}
        puts -nonewline $s $body
        flush $s
        fconfigure $s -translation crlf
    }
}
proc listen {} {
    global argv listener
    lassign $argv address port
    set listener [socket -server accept -myaddr $address $port]
    puts stderr listening
}
proc watch {} {
    global listener
    set again [file join [file dirname [info script]] again]
    if {[file exists $again]} {
        close $listener
        listen
        file delete $again
    }
    after 20 watch
}
listen
watch
vwait forever
