-- PUT 1 KiB to a new name each time: wrk -s put.lua URL -- /folder/
local prefix, counter, body = "/", 0, string.rep("x", 1024)

function init(arguments)
    prefix = arguments[1] or "/"
end

function request()
    counter = counter + 1
    return wrk.format("PUT", prefix .. counter, nil, body)
end
