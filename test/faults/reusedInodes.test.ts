import { stat } from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import { plainArgs, startServer } from '../serverProcess.js';
import { mountSmallDisk } from './smallDisk.js';

test('a temporary link does not serve a new file with the inode number of its deleted one, on a disk without times of birth', async (t) => {
	const disk = await mountSmallDisk(t, 64, ['-I', '128']);
	if (disk === undefined) {
		t.pass();
		return;
	}
	// The index of names would take the number for a file of its own.
	const args = plainArgs(path.join(disk.folder, 'data'), '--search-index', 'false');
	const server = await startServer(t, { args });
	const cookie = await server.register('ada');
	const home = path.join(disk.folder, 'data/files/users/ada');
	const call = async (method: string, name: string, body: object) => {
		const headers = { cookie, 'content-type': 'application/json' };
		const answer = await fetch(`${server.url}/api/${name}`, { method, headers, body: JSON.stringify(body) });
		t.is(answer.status, 200);
		return (await answer.json()) as { token?: string };
	};
	const upload = async (content: string) => {
		const form = new FormData();
		form.set('type', 'private');
		form.set('file', new Blob([content]), 'letter.txt');
		t.is((await fetch(`${server.url}/api/upload`, { method: 'POST', headers: { cookie }, body: form })).status, 200);
	};
	// What is in the trash keeps its number.
	const remove = () => call('DELETE', 'deleteItem', { filePath: 'letter.txt', type: 'private', permanent: true });
	const numberOf = async () => (await stat(path.join(home, 'letter.txt'))).ino;
	// A file of the server's own may take the number first.
	for (let tries = 1; ; tries++) {
		await upload('for you');
		const number = await numberOf();
		const { token } = await call('POST', 'generateTempLink', { filePath: 'letter.txt', expiration: '1h' });
		const follow = async () => (await fetch(`${server.url}/api/temp/${token}`)).text();
		t.is(await follow(), 'for you');
		await call('POST', 'renameItem', { oldPath: 'letter.txt', newName: 'old.txt', type: 'private' });
		t.is(await follow(), 'for you');
		await call('POST', 'renameItem', { oldPath: 'old.txt', newName: 'letter.txt', type: 'private' });
		await remove();
		await upload('for nobody else');
		t.is(JSON.parse(await follow()).code, 'NOT_FOUND');
		if ((await numberOf()) === number) break;
		t.true(tries < 50, 'the number is used again');
		await remove();
	}
});
