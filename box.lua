-- Tarantool for the storage race: a space of rows and one that says what was loaded. Loopback only.
--
-- By hand:  tarantool box.lua, or the line that `npx dragstrip servers command tarantool` prints
-- (Ctrl-C ends it).
-- Its rows are kept in .dragstrip/by-hand/tarantool. It can be started any number of times:
-- everything is made only if it is not there yet.
--
-- `dragstrip servers start tarantool` uses this file with another port and folder, by
--   DRAGSTRIP_BOX_LISTEN   host:port, 127.0.0.1:3301 if absent
--   DRAGSTRIP_BOX_FOLDER   folder of snapshots
--   DRAGSTRIP_BOX_MEMORY   bytes for rows, 2 GiB if absent: a million rows of 1 KB take 1.1 GB
--   DRAGSTRIP_BOX_KEEP     "no": rows are discarded at the end
--   DRAGSTRIP_BOX_USER     user with access to the rows, guest if absent; a guest has none otherwise
--   DRAGSTRIP_BOX_SECRET_FILE   private file with the password of that user

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
    -- It listens at the end of this file, when everything is there and nobody else may enter.
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

local user = setting('DRAGSTRIP_BOX_USER', 'guest')
if user ~= 'guest' then
    local secret_file = fio.open(setting('DRAGSTRIP_BOX_SECRET_FILE', ''), {'O_RDONLY'})
    local password = secret_file:read(1024)
    secret_file:close()
    box.schema.user.create(user, {if_not_exists = true})
    box.schema.user.passwd(user, password)
    -- Also what an earlier start had granted it is of no use then.
    box.schema.user.disable('guest')
else
    box.schema.user.enable('guest')
end

local function make_rows(name, index_type)
    box.schema.space.create(name, {
        if_not_exists = true,
        format = {{name = 'id', type = 'unsigned'}, {name = 'str', type = 'string'}},
    })
    box.space[name]:create_index('primary', {
        if_not_exists = true,
        type = index_type or 'HASH',
        parts = {{1, 'unsigned'}},
    })
end

-- The rows of the race, and those of `dragstrip mget` and of mixes with inserts or scans (a tree),
-- which exist only while these run.
make_rows('dragstrip_rows')
make_rows('dragstrip_mget')
make_rows('dragstrip_crud', 'TREE')
local rows = box.space.dragstrip_rows

-- Those that `dragstrip insert` inserts: two numbers each.
box.schema.space.create('dragstrip_insert', {
    if_not_exists = true,
    format = {{name = 'a', type = 'unsigned'}, {name = 'b', type = 'unsigned'}},
})
box.space.dragstrip_insert:create_index('primary', {
    if_not_exists = true,
    type = 'HASH',
    parts = {{1, 'unsigned'}},
})

-- The marks of our namespaces: tuples {'dataset', '{"owner":"dragstrip",…}'}, {'mget', …} and so on,
-- lines of JSON. Tuples without a mark were not created by Dragstrip.
local marker = box.schema.space.create('dragstrip_dataset', {
    if_not_exists = true,
    format = {{name = 'name', type = 'string'}, {name = 'value', type = 'any'}},
})
marker:create_index('primary', {
    if_not_exists = true,
    type = 'HASH',
    parts = {{1, 'string'}},
})

-- Writes a batch of rows, {{id, str}, …}, in one transaction; an existing row is replaced.
-- Gives how many were written.
function dragstrip_load(batch)
    box.begin()
    for i = 1, #batch do
        rows:replace(batch[i])
    end
    box.commit()
    return #batch
end

-- The key of each namespace's mark by the name of its space; without a name: the rows of the race.
local marks = {
    dragstrip_rows = 'dataset',
    dragstrip_mget = 'mget',
    dragstrip_crud = 'crud',
    dragstrip_insert = 'insert',
    dragstrip_mutex_locks = 'mutex',
}

-- Rows of one size, of a run with several (--value-size 16,1k): dragstrip_value_16.
local function mark_of(name)
    return marks[name] or string.match(name, '^dragstrip_(value_%d+)$')
end

-- Our spaces, and no other.
local function place(name)
    name = name or 'dragstrip_rows'
    if mark_of(name) == nil then
        error('no namespace of Dragstrip has a space ' .. name)
    end
    return box.space[name]
end

-- The space of rows of one size, made when a run asks for it.
function dragstrip_make(name)
    if string.match(name, '^dragstrip_value_%d+$') == nil then
        error('no space of rows of one size: ' .. name)
    end
    make_rows(name)
    box.schema.user.grant(user, 'read,write', 'space', name, {if_not_exists = true})
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
    local space = place(name)
    marker:delete{mark_of(space.name)}
    if name == 'dragstrip_mutex_locks' then
        dragstrip_mutex_reset()
    else
        space:truncate()
    end
end

function dragstrip_count(name)
    local count = place(name):len()
    if name == 'dragstrip_mutex_locks' then
        count = count + box.space.dragstrip_mutex_numbers:len()
    end
    return count
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

-- Rows {a, b}, …, in one transaction: all of them, or none where one is there already. Gives how
-- many there are.
function dragstrip_insert(batch)
    local space = box.space.dragstrip_insert
    box.begin()
    for i = 1, #batch do
        space:insert(batch[i])
    end
    box.commit()
    return #batch
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

-- What has been executed since this start, for comparison with what clients say: an identity that
-- each start has anew, operations and errors. Those of a function count one by one, beside its call;
-- calls of this function do not.
local identity = require('uuid').str()
-- Operations of this file itself.
local own = 0
local operations = {
    'SELECT', 'INSERT', 'REPLACE', 'UPDATE', 'UPSERT', 'DELETE', 'CALL', 'EVAL', 'EXECUTE',
}
function dragstrip_executed()
    own = own + 1
    local stat = box.stat()
    local total = 0
    for _, name in ipairs(operations) do
        total = total + stat[name].total
    end
    return {identity, total - own, stat.ERROR.total}
end

-- The user reads and writes our spaces and calls our functions, nothing else.
for _, name in ipairs{
    'dragstrip_rows', 'dragstrip_mget', 'dragstrip_crud', 'dragstrip_insert', 'dragstrip_dataset',
} do
    box.schema.user.grant(user, 'read,write', 'space', name, {if_not_exists = true})
end
for _, name in ipairs{
    'dragstrip_load', 'dragstrip_load_from', 'dragstrip_reset', 'dragstrip_count',
    'dragstrip_settings', 'dragstrip_make',
} do
    -- setuid: runs as the one who made it, for truncate and box.cfg.
    box.schema.func.create(name, {if_not_exists = true, setuid = true})
    box.schema.user.grant(user, 'execute', 'function', name, {if_not_exists = true})
end
-- Not setuid: the user may read and write, and changing the user costs something in every call.
for _, name in ipairs{'dragstrip_mget', 'dragstrip_insert', 'dragstrip_executed'} do
    box.schema.func.create(name, {if_not_exists = true})
    box.schema.user.grant(user, 'execute', 'function', name, {if_not_exists = true})
end

-- Locks and the numbers that they guard, for `dragstrip mutex`: in memory only. A lock belongs to a
-- session and an owner; it ends by its expiry, or with its session.
local fiber = require('fiber')
local locks = box.schema.space.create('dragstrip_mutex_locks', {
    if_not_exists = true,
    temporary = true,
    format = {
        {name = 'name', type = 'string'}, {name = 'owner', type = 'string'},
        {name = 'session', type = 'unsigned'}, {name = 'expires', type = 'number'},
    },
})
locks:create_index('primary', {if_not_exists = true, type = 'HASH', parts = {{1, 'string'}}})
locks:create_index('session', {
    if_not_exists = true,
    type = 'TREE',
    unique = false,
    parts = {{3, 'unsigned'}},
})
local numbers = box.schema.space.create('dragstrip_mutex_numbers', {
    if_not_exists = true,
    temporary = true,
    format = {{name = 'name', type = 'string'}, {name = 'value', type = 'integer'}},
})
numbers:create_index('primary', {if_not_exists = true, type = 'HASH', parts = {{1, 'string'}}})

-- Who waits for a name: a condition and how many. An unlock wakes one; who leaves without the lock
-- wakes the next in its place.
local waiting = {}

local function wake(name)
    local queue = waiting[name]
    if queue ~= nil then
        queue.cond:signal()
    end
end

local function wait_for(name, seconds)
    local queue = waiting[name]
    if queue == nil then
        queue = {cond = fiber.cond(), count = 0}
        waiting[name] = queue
    end
    queue.count = queue.count + 1
    pcall(queue.cond.wait, queue.cond, seconds)
    queue.count = queue.count - 1
    if queue.count == 0 then
        waiting[name] = nil
    end
end

-- By session, while a call of it waits: whether its connection has ended meanwhile.
local callers = setmetatable({}, {__mode = 'v'})

local function is_held(tuple, now)
    return tuple ~= nil and tuple.expires > now
end

-- Locks all names or none; waits up to `block` seconds. Gives 'locked', 'timeout' or 'deadlock'.
function dragstrip_mutex_lock(names, owner, block, expire)
    local session = box.session.id()
    local deadline = fiber.clock() + block
    local caller = callers[session] or {gone = false}
    callers[session] = caller
    local woken
    while true do
        if caller.gone then
            -- What it locked now would be nobody's until it expires.
            wake(woken)
            return 'timeout'
        end
        local now = fiber.clock()
        local blocked, till
        for _, name in ipairs(names) do
            local tuple = locks:get(name)
            if is_held(tuple, now) then
                if tuple.session == session and tuple.owner == owner then
                    if woken ~= nil then wake(woken) end
                    return 'deadlock'
                end
                if till == nil or tuple.expires > till then
                    blocked, till = name, tuple.expires
                end
            end
        end
        if blocked == nil then
            box.begin()
            for _, name in ipairs(names) do
                locks:replace{name, owner, session, now + expire}
            end
            box.commit()
            return 'locked'
        end
        if woken ~= nil and woken ~= blocked then wake(woken) end
        if now >= deadline then
            wake(blocked)
            return 'timeout'
        end
        wait_for(blocked, math.min(deadline, till) - now)
        woken = blocked
    end
end

-- The names of it that this session's owner holds, and whether all are held still.
local function own_names(names, owner)
    local session, now, own, all = box.session.id(), fiber.clock(), {}, true
    for _, name in ipairs(names) do
        local tuple = locks:get(name)
        local ours = tuple ~= nil and tuple.session == session and tuple.owner == owner
        if ours then
            own[#own + 1] = name
        end
        all = all and ours and is_held(tuple, now)
    end
    return own, all
end

function dragstrip_mutex_unlock(names, owner)
    local own, all = own_names(names, owner)
    box.begin()
    for _, name in ipairs(own) do
        locks:delete{name}
    end
    box.commit()
    for _, name in ipairs(own) do
        wake(name)
    end
    return all
end

function dragstrip_mutex_refresh(names, owner, expire)
    local own, all = own_names(names, owner)
    if all then
        box.begin()
        for _, name in ipairs(own) do
            locks:update(name, {{'=', 4, fiber.clock() + expire}})
        end
        box.commit()
    end
    return all
end

function dragstrip_mutex_owned(names, owner)
    local _, all = own_names(names, owner)
    return all
end

function dragstrip_mutex_set(name, value)
    numbers:replace{name, value}
end

function dragstrip_mutex_increment(name)
    return numbers:update(name, {{'+', 2, 1}})[2]
end

function dragstrip_mutex_get(name)
    local tuple = numbers:get(name)
    return tuple and tuple[2]
end

function dragstrip_mutex_remove(name)
    numbers:delete{name}
end

-- Nothing is left of earlier runs; who waits looks again.
function dragstrip_mutex_reset()
    for _, space in ipairs{locks, numbers} do
        for _, tuple in space:pairs() do
            space:delete{tuple[1]}
        end
    end
    for name in pairs(waiting) do
        waiting[name].cond:broadcast()
    end
end

function dragstrip_mutex_ready()
    return true
end

box.session.on_disconnect(function()
    local caller = callers[box.session.id()]
    if caller ~= nil then
        caller.gone = true
    end
    own = own + 1
    for _, tuple in ipairs(locks.index.session:select{box.session.id()}) do
        locks:delete{tuple.name}
        wake(tuple.name)
    end
end)

-- Not setuid: it costs something in every call.
for _, name in ipairs{'dragstrip_mutex_locks', 'dragstrip_mutex_numbers'} do
    box.schema.user.grant(user, 'read,write', 'space', name, {if_not_exists = true})
end
for _, name in ipairs{
    'lock', 'unlock', 'refresh', 'owned', 'set', 'increment', 'get', 'remove', 'ready',
} do
    local full = 'dragstrip_mutex_' .. name
    box.schema.func.create(full, {if_not_exists = true})
    box.schema.user.grant(user, 'execute', 'function', full, {if_not_exists = true})
end

if setting('DRAGSTRIP_BOX_KEEP', 'yes') ~= 'no' then
    -- A million rows take some seconds; the default limit of newer versions is three.
    if box.ctl.set_on_shutdown_timeout ~= nil then
        box.ctl.set_on_shutdown_timeout(60)
    end
    box.ctl.on_shutdown(function()
        pcall(box.snapshot)
    end)
end

box.cfg{listen = setting('DRAGSTRIP_BOX_LISTEN', '127.0.0.1:3301')}
