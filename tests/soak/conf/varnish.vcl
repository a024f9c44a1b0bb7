vcl 4.1;
backend origin { .host = "@peer@"; .port = "@origin@"; }
sub vcl_recv {
    # Half of the answers come from the cache, the others each from the origin.
    if (req.url ~ "[13579]$") { return (pass); }
}
