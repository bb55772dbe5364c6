import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ExecutionContext } from 'ava';
import { inOrder, onDisk, requestOf } from '../model/compareWithModel.js';
import { FileModel } from '../model/FileModel.js';
import { type Call, randomCall, removeCall, restoreCall, seededNumbers } from '../model/randomCalls.js';
import { plainArgs, startServer } from '../serverProcess.js';
import { mountSmallDisk } from './smallDisk.js';

const users = ['ann', 'bob'];

/** Makes calls on a disk that writes late, cuts its power at each answer, and checks that all answered changes are on the disk. */
export async function cutPowerAtEachAnswer(
	t: ExecutionContext,
	calls: (model: FileModel) => Iterable<Call>,
): Promise<void> {
	const disk = await mountSmallDisk(t, 192);
	if (disk === undefined) {
		// Without a disk only the order of the system calls can be checked, which the tests of the storage do.
		t.pass('no disk to cut off');
		return;
	}
	const server = await startServer(t, { args: plainArgs(path.join(disk.folder, 'data')) });
	const model = new FileModel();
	const cookies = new Map<string, string>();
	for (const name of users) {
		cookies.set(name, await server.register(name));
		model.addUser(name);
	}
	let cuts = 0;
	for (const call of calls(model)) {
		// Only to learn the ids of versions.
		if (call.method === 'GET' && call.onAnswer === undefined) continue;
		const expected = call.inModel(model);
		const cookie = call.actor === undefined ? undefined : cookies.get(call.actor);
		const answer = await fetch(server.url + call.path, requestOf(call, cookie));
		const context = `${++cuts}: ${call.method} ${call.path} ${JSON.stringify(call.body)}`;
		t.is(answer.status, expected.status, context);
		if (answer.status !== 200) continue;
		call.onAnswer?.(await answer.json());
		if (call.method === 'GET') continue;
		const found = await disk.afterPowerCut((folder) => onDisk(path.join(folder, 'data', 'files')));
		if (!t.deepEqual(found, inOrder(model), context)) return;
	}

	await server.register('eve');
	await disk.afterPowerCut(async (folder) => {
		const again = await startServer(t, { args: plainArgs(path.join(folder, 'data')) });
		for (const username of [...users, 'eve']) {
			const body = JSON.stringify({ username, password: 'correct horse' });
			const headers = { 'content-type': 'application/json' };
			const answer = await fetch(`${again.url}/api/login`, { method: 'POST', headers, body });
			t.is(answer.status, 200, `${username} can sign in after it`);
		}
		await again.stop();
	});
	// If this file were found, the disk would have written it without a sync, and the checks above would prove nothing.
	await writeFile(path.join(disk.folder, 'never synced'), 'lost');
	t.false((await disk.afterPowerCut((folder) => readdir(folder))).includes('never synced'));
}

/** Each kind of change once. */
export function* everyChange(model: FileModel): Generator<Call> {
	const post = (path: string, body: Record<string, unknown>, inModel: Call['inModel']): Call => ({
		actor: 'ann',
		method: 'POST',
		path: `/api/${path}`,
		body,
		inModel,
	});
	const type = 'private';
	const create = (directory: string, folderName: string) =>
		post('createFolder', { directory, folderName, type }, (m) => m.createFolder('ann', type, directory, folderName));
	const move = (fromPath: string, toPath: string) =>
		post('moveItem', { fromPath, toPath, type }, (m) => m.move('ann', type, fromPath, toPath, undefined));
	const upload = (directory: string, name: string, content: string): Call => ({
		...post('upload', { directory, type }, (m) => m.upload('ann', type, directory, name, content)),
		file: { name, content },
	});
	const replace = (directory: string, name: string, content: string): Call => ({
		...post('upload', { directory, type, onConflict: 'replace' }, (m) =>
			m.replace('ann', type, directory, name, content),
		),
		file: { name, content },
	});
	yield create('', 'docs');
	yield create('docs', 'inner');
	yield upload('docs/inner', 'a.txt', 'a'.repeat(300_000));
	yield upload('', 'empty.txt', '');
	for (const content of ['first', 'second', 'third']) yield replace('docs', 'replaced.txt', content);
	yield move('empty.txt', 'docs/moved.txt');
	yield post('renameItem', { oldPath: 'docs/inner/a.txt', newName: 'b.txt', type }, (m) =>
		m.rename('ann', type, 'docs/inner/a.txt', 'b.txt', undefined),
	);
	yield post('copyItem', { fromPath: 'docs', toPath: 'copy of docs', type }, (m) =>
		m.copy('ann', type, 'docs', type, 'copy of docs', undefined),
	);
	yield move('docs/inner', 'Public/docs/inner');
	yield move('Public/docs/inner', 'a/place/that/was/not/there');
	for (const filePath of ['copy of docs', 'docs/moved.txt']) yield removeCall('ann', type, filePath, undefined);
	for (const item of model.trash.slice()) yield restoreCall('ann', item);
	yield {
		actor: undefined,
		method: 'POST',
		path: '/api/upload/public',
		body: {},
		file: { name: 'visitor.txt', content: 'v' },
		inModel: (m) => m.upload(undefined, 'public', '', 'visitor.txt', 'v'),
	};
}

/** Any changes, the same for the same seed, after each kind once. */
export function* manyChanges(model: FileModel, count: number, seed: number): Generator<Call> {
	yield* everyChange(model);
	const next = seededNumbers(seed);
	for (let n = 0; n < count; n++) yield randomCall(next, model, users);
}
