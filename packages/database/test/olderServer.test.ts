import path from 'node:path';
import test from 'ava';
import Libsql from 'libsql';
import { dataFolder, stowage } from '../../../cli/test/program.js';
import { plainArgs, startServer } from '../../../test/serverProcess.js';

test('no command of a newer program changes the tables of an older server that still serves, which goes on', async (t) => {
	const folder = await dataFolder(t);
	const server = await startServer(t, { args: plainArgs(folder) });
	await server.register('ada');
	// As a server from before a migration with which it could not go on has left it. Its steps accept what is there already.
	const change = (statement: string) => {
		const connection = new Libsql(path.join(folder, 'stowage.db'));
		try {
			return connection.prepare(statement).all();
		} finally {
			connection.close();
		}
	};
	const name = '0032-share-receipts';
	const forget = new Libsql(path.join(folder, 'stowage.db'));
	forget.prepare('delete from migrations where name = ?').run([name]);
	forget.close();
	const applied = () => change(`select name from migrations where name = '${name}'`).length;
	for (const words of [['user', 'list'], ['migrate'], ['serve', '--port', '0']]) {
		const { code, stderr } = await stowage([...words, '--data-dir', folder]);
		t.is(code, 78, words.join(' '));
		t.regex(stderr, new RegExp(`An older Stowage serves over this database.*: process ${server.pid}\\.`));
		t.is(applied(), 0, words.join(' '));
	}
	t.is((await fetch(`${server.url}/api/ready`)).status, 200);
	await server.stop();
	const { code, stdout } = await stowage(['user', 'list', '--data-dir', folder]);
	t.is(code, 0);
	t.regex(stdout, /^ada\b/m);
	t.is(applied(), 1);
});
