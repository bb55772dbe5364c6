import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { parsePath } from '@stowage/rules';
import test from 'ava';
import { Client, json, type TestApp, testApp } from '../testApp.js';

/** The server finds these mounted, as far as the list of mounts is concerned. */
function mount(app: TestApp, points: readonly string[]): void {
	const { storage } = app.services.roots.first;
	const { disk } = storage as unknown as { disk: { calls: { mountPoints(): Promise<readonly string[]> } } };
	disk.calls.mountPoints = async () => points;
}

test('a folder in which another one is mounted is not deleted, moved to another root or removed with its account', async (t) => {
	const app = await testApp(t);
	const { accounts, files, homeMoves, rootAdministration } = app.services;
	const disk = await mkdtemp(path.join(os.tmpdir(), 'stowage-disk-'));
	t.teardown(() => rm(disk, { recursive: true, force: true, maxRetries: 10 }));
	await rootAdministration.add('big', 'local', path.join(disk, 'root'));
	const ada = await new Client(app).register('ada');
	const home = path.join(app.filesDir, 'users/ada');
	await mkdir(path.join(home, 'stuff/family'), { recursive: true });
	await writeFile(path.join(home, 'stuff/family/1'), 'of all');
	mount(app, ['/', path.join(home, 'stuff/family')]);

	const remove = (more: object) =>
		ada.call('DELETE', '/api/deleteItem', { filePath: 'stuff', type: 'private', ...more });
	for (const more of [{}, { permanent: true }]) {
		const answer = await remove(more);
		t.is(answer.statusCode, 409, answer.payload);
		t.regex(answer.payload, /"stuff\/family is mounted from another place, [^"]*Unmount it first[^"]*removed\."/);
	}
	const viewer = { kind: 'user', id: (await accounts.find('ada')).id, username: 'ada' } as const;
	const stuff = { area: 'private', path: parsePath('stuff') } as const;
	await t.throwsAsync(files.assertRemovable(viewer, stuff), { message: /stuff\/family is mounted/ });
	await t.throwsAsync(homeMoves.start('ada', 'big'), { message: /ada\/stuff\/family is mounted/ });
	await t.throwsAsync(accounts.remove('ada', { kind: 'delete' }), { message: /ada\/stuff\/family is mounted/ });
	t.false((await accounts.find('ada')).isDisabled, 'nothing was begun');
	t.deepEqual(await readdir(path.join(home, 'stuff/family')), ['1']);
	t.deepEqual(json(await ada.get('/api/trash')).entries, []);

	// Its name may change: what is mounted goes along, as it does for any program.
	const renamed = await ada.post('/api/renameItem', { oldPath: 'stuff', newName: 'things', type: 'private' });
	t.is(renamed.statusCode, 200, renamed.payload);
	mount(app, ['/']);
	t.is((await ada.call('DELETE', '/api/deleteItem', { filePath: 'things', type: 'private' })).statusCode, 200);
});
