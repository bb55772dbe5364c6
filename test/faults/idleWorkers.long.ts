import { readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import test from 'ava';
import { startMariadb } from '../../packages/database/test/mariadb.js';
import { memoryFolder } from '../memoryFolder.js';
import { plainArgs, startServer } from '../serverProcess.js';

const minutes = Number(process.env.TEST_MINUTES ?? 10);

/** By then each has looked up what it can do for the last time for a while. */
const settledMs = 100_000;

test('four idle workers over MariaDB take little, ask little and write nothing', async (t) => {
	const mariadb = await startMariadb();
	t.teardown(mariadb.close);
	const databaseUrl = await mariadb.createDatabase();
	const args = plainArgs(await memoryFolder(t), '--workers', '4', '--database-url', databaseUrl);
	const server = await startServer(t, { args });
	await server.register('ada');
	const status = async () => {
		const rows = await mariadb.query(
			"show global status where variable_name in ('questions', 'handler_write', 'handler_update', 'handler_delete')",
		);
		return new Map(rows.map(({ Variable_name, Value }) => [String(Variable_name).toLowerCase(), Number(Value)]));
	};
	const children = await childrenOf(server.pid);
	t.is(children.length, 4);
	await wait(settledMs);
	const begun = performance.now();
	const [before, ticks] = [await status(), await ticksOf([server.pid, ...children])];
	await wait(minutes * 60_000);
	const [after, ticksAfter] = [await status(), await ticksOf([server.pid, ...children])];
	const seconds = (performance.now() - begun) / 1000;
	const grown = (name: string) => (after.get(name) ?? Number.NaN) - (before.get(name) ?? Number.NaN);
	const written = grown('handler_write') + grown('handler_update') + grown('handler_delete');
	// A tick is the 100th part of a second.
	const percent = (ticksAfter - ticks) / seconds;
	const statements = grown('questions') / seconds;
	t.log(
		`${minutes} minutes: ${percent.toFixed(2)} % of a core, ${statements.toFixed(1)} statements a second, ${written} rows written`,
	);
	t.is(written, 0);
	t.true(percent < 2, `${percent} %`);
	t.true(statements < 30, `${statements} a second`);
});

async function childrenOf(pid: number): Promise<number[]> {
	const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
	return text.trim().split(' ').map(Number);
}

/** What these processes have used of processors. */
async function ticksOf(pids: readonly number[]): Promise<number> {
	const stats = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8')));
	return stats.reduce((all, stat) => {
		const [user, system] = stat
			.slice(stat.lastIndexOf(')') + 2)
			.split(' ')
			.slice(11, 13);
		return all + Number(user) + Number(system);
	}, 0);
}
