-- Tarantool for the storage race: a space of rows and one that says what was loaded. Loopback only.
--
-- By hand:  tarantool box.lua       (Ctrl-C ends it)
-- Its rows are kept in .dragstrip/by-hand/tarantool. It can be started any number of times:
-- everything is made only if it is not there yet.
--
-- `dragstrip servers start tarantool` uses this file with a port and a folder of its own, by
--   DRAGSTRIP_BOX_LISTEN   host:port, 127.0.0.1:3301 if absent
--   DRAGSTRIP_BOX_FOLDER   where snapshots are kept
--   DRAGSTRIP_BOX_MEMORY   bytes for rows, 2 GiB if absent: a million rows of 1 KB take 1.1 GB
--   DRAGSTRIP_BOX_KEEP     "no": rows are not written at the end

local fio = require('fio')

local function setting(name, default)
    local value = os.getenv(name)
    if value == nil or value == '' then
        return default
    end
    return value
end

local home = setting('DRAGSTRIP_HOME', '.dragstrip')
local folder = setting('DRAGSTRIP_BOX_FOLDER', fio.pathjoin(home, 'by-hand', 'tarantool'))
fio.mktree(folder)

box.cfg{
    listen = setting('DRAGSTRIP_BOX_LISTEN', '127.0.0.1:3301'),
    memtx_dir = folder,
    wal_dir = folder,
    vinyl_dir = folder,
    -- No log of writes and no snapshot by the clock: both are noise in the middle of a run.
    wal_mode = 'none',
    checkpoint_interval = 0,
    checkpoint_count = 1,
    memtx_memory = tonumber(setting('DRAGSTRIP_BOX_MEMORY', 2 * 1024 ^ 3)),
    -- A value may have 16 MiB.
    memtx_max_tuple_size = 17 * 1024 ^ 2,
    -- With the defaults (768 messages, 16 KB) the server stops reading in deep pipelines.
    net_msg_max = 100000,
    readahead = 1024 ^ 2,
}

-- The rows of the race; those of `dragstrip mget`, which are there only while it runs.
for _, name in ipairs{'dragstrip_rows', 'dragstrip_mget'} do
    box.schema.space.create(name, {
        if_not_exists = true,
        format = {{name = 'id', type = 'unsigned'}, {name = 'str', type = 'string'}},
    })
    box.space[name]:create_index('primary', {
        if_not_exists = true,
        type = 'HASH',
        parts = {{1, 'unsigned'}},
    })
end
local rows = box.space.dragstrip_rows

-- What was loaded: tuples {'dataset', '{"owner":"dragstrip",…}'} and {'mget', …}, lines of JSON that
-- the loader writes before its rows and completes after them. Absent, with rows present: they are
-- not ours.
local marker = box.schema.space.create('dragstrip_dataset', {
    if_not_exists = true,
    format = {{name = 'name', type = 'string'}, {name = 'value', type = 'any'}},
})
marker:create_index('primary', {
    if_not_exists = true,
    type = 'HASH',
    parts = {{1, 'string'}},
})

-- Writes a batch of rows, {{id, str}, …}, in one transaction; a row that is there is replaced.
-- Gives how many were written.
function dragstrip_load(batch)
    box.begin()
    for i = 1, #batch do
        rows:replace(batch[i])
    end
    box.commit()
    return #batch
end

-- Our spaces of rows, and no other; without a name: those of the race.
local function place(name)
    if name == 'dragstrip_mget' then
        return box.space.dragstrip_mget
    end
    return rows
end

-- The same for rows of consecutive ids from `first` on: fewer tables to decode.
function dragstrip_load_from(first, values, name)
    local space = place(name)
    box.begin()
    for i = 1, #values do
        space:replace{first + i - 1, values[i]}
    end
    box.commit()
    return #values
end

-- Removes all rows and the mark.
function dragstrip_reset(name)
    marker:delete{name == 'dragstrip_mget' and 'mget' or 'dataset'}
    place(name):truncate()
end

function dragstrip_count(name)
    return place(name):len()
end

-- The values of several keys in their order, null for one that is not there: the protocol has no
-- select of several keys.
function dragstrip_mget(name, ids)
    local space = place(name)
    local values = {}
    for i = 1, #ids do
        local tuple = space:get(ids[i])
        values[i] = tuple == nil and box.NULL or tuple[2]
    end
    return values
end

-- The settings that decide speed and durability, for the result of a run.
function dragstrip_settings()
    local names = {
        'wal_mode', 'memtx_memory', 'net_msg_max', 'readahead', 'checkpoint_interval',
    }
    local settings = {}
    for _, name in ipairs(names) do
        settings[name] = tostring(box.cfg[name])
    end
    return settings
end

-- A guest reads and writes our two spaces and calls our functions, nothing else.
for _, name in ipairs{'dragstrip_rows', 'dragstrip_mget', 'dragstrip_dataset'} do
    box.schema.user.grant('guest', 'read,write', 'space', name, {if_not_exists = true})
end
for _, name in ipairs{
    'dragstrip_load', 'dragstrip_load_from', 'dragstrip_reset', 'dragstrip_count',
    'dragstrip_settings',
} do
    -- setuid: runs as the one who made it, for truncate and box.cfg.
    box.schema.func.create(name, {if_not_exists = true, setuid = true})
    box.schema.user.grant('guest', 'execute', 'function', name, {if_not_exists = true})
end
-- Not setuid: a guest may read, and changing the user costs something in every call.
box.schema.func.create('dragstrip_mget', {if_not_exists = true})
box.schema.user.grant('guest', 'execute', 'function', 'dragstrip_mget', {if_not_exists = true})

if setting('DRAGSTRIP_BOX_KEEP', 'yes') ~= 'no' then
    -- A million rows take some seconds; the default limit of newer versions is three.
    if box.ctl.set_on_shutdown_timeout ~= nil then
        box.ctl.set_on_shutdown_timeout(60)
    end
    box.ctl.on_shutdown(function()
        pcall(box.snapshot)
    end)
end
