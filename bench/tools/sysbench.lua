-- The point read of Dragstrip's rows: the statement of the drivers, prepared, by a key drawn
-- uniformly. Of sysbench 1.0.
sysbench.cmdline.options = { rows = { "Number of rows", 1000 }, source = { "Table", "" } }

function thread_init()
   con = sysbench.sql.driver():connect()
   stmt = con:prepare("select str from " .. sysbench.opt.source .. " where id=?")
   id = stmt:bind_create(sysbench.sql.type.INT)
   stmt:bind_param(id)
end

function event()
   id:set(sysbench.rand.uniform(1, sysbench.opt.rows))
   stmt:execute()
end

function thread_done()
   stmt:close()
   con:disconnect()
end
