import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import { plainArgs, startServer } from '../serverProcess.js';
import { temporaryFolder } from './uploading.js';

const clients = 4;

/** Few names at a time, and others after a while: of one file not all versions are kept. */
const namesAtOnce = 6;
const callsOfNames = 80;

const type = 'private';

/**
 * Four clients of one home replace, move, rename, delete and restore the same few files and their versions while the
 * server is killed again and again. In the end each content whose upload was answered is that of a file, or of one of
 * its versions.
 */
export async function killedWhileReplacing(t: ExecutionContext, calls: number, callsOfOne: number): Promise<void> {
	const dataDir = await temporaryFolder(t);
	const home = path.join(dataDir, 'files/users/ada');
	const answered = new Set<string>();
	const statuses = new Map<number, number>();
	let cookie = '';
	let made = 0;
	let kills = 0;
	let uploads = 0;
	while (made < calls) {
		const server = await startServer(t, { args: plainArgs(dataDir, '--log-level', 'error') });
		if (cookie === '') cookie = await server.register('ada');
		const send = sender(server.url, cookie);
		const last = made + Math.ceil(callsOfOne * (0.5 + 0.5 * Math.random()));
		let reach = () => {};
		const reached = new Promise<void>((resolve) => {
			reach = resolve;
		});
		const client = async () => {
			// Until the server does not answer.
			for (;;) {
				if (made >= last) reach();
				const window = Math.floor(made++ / callsOfNames);
				const name = () => `${window}-${Math.floor(Math.random() * namesAtOnce)}`;
				const content = `content ${uploads++}`;
				const { status, isUpload } = await randomChange(send, name, content);
				statuses.set(status, (statuses.get(status) ?? 0) + 1);
				if (isUpload && status === 200) answered.add(content);
				if (status >= 500) t.fail(`${status} was answered`);
			}
		};
		const working = Promise.all(Array.from({ length: clients }, () => client().catch(ignoreBrokenConnections)));
		await reached;
		await wait(Math.random() * 20);
		await server.stop('SIGKILL');
		kills++;
		await working;
	}

	const server = await startServer(t, { args: plainArgs(dataDir, '--log-level', 'error') });
	const send = sender(server.url, cookie);
	const trash = JSON.parse((await send('GET', '/api/trash')).text) as { entries: { id: string }[] };
	await send('POST', '/api/trash/restore', { ids: trash.entries.map(({ id }) => id) });
	const found = new Set<string>();
	for (const entry of await readdir(home, { recursive: true, withFileTypes: true })) {
		if (!entry.isFile()) continue;
		const full = path.join(entry.parentPath, entry.name);
		found.add(await readFile(full, 'utf8'));
		const at = path.relative(home, full).split('/').map(encodeURIComponent).join('/');
		const { versions } = JSON.parse((await send('GET', `/api/versions/${at}?type=${type}`)).text);
		for (const { id } of versions) {
			const { status, text } = await send('GET', `/api/download/${at}?type=${type}&version=${id}`);
			t.is(status, 200);
			found.add(text);
		}
	}
	const lost = [...answered].filter((content) => !found.has(content));
	t.deepEqual(lost, []);
	t.deepEqual(
		(await readdir(path.join(dataDir, 'files/.stowage/staging'))).filter((name) => name.startsWith('replacing-')),
		[],
	);
	t.log(
		`${answered.size} contents, ${kills} kills, ${[...statuses].map(([status, count]) => `${count} × ${status}`).join(', ')}`,
	);
	await server.stop();
}

type Send = (
	method: string,
	url: string,
	body?: Record<string, unknown> | FormData,
) => Promise<{ status: number; text: string }>;

const sender =
	(url: string, cookie: string): Send =>
	async (method, call, body) => {
		const isForm = body instanceof FormData;
		const headers = { cookie, ...(isForm || body === undefined ? {} : { 'content-type': 'application/json' }) };
		const sent = body === undefined || isForm ? body : JSON.stringify(body);
		const answer = await fetch(url + call, { method, headers, ...(sent === undefined ? {} : { body: sent }) });
		return { status: answer.status, text: await answer.text() };
	};

async function randomChange(
	send: Send,
	name: () => string,
	content: string,
): Promise<{ status: number; isUpload?: boolean }> {
	const pick = Math.random();
	const folder = () => (Math.random() < 0.5 ? '' : 'folder');
	const file = () => [folder(), name()].filter(Boolean).join('/');
	if (pick < 0.55) {
		const form = new FormData();
		form.set('directory', folder());
		form.set('onConflict', 'replace');
		form.set('file', new Blob([content]), name());
		return { ...(await send('POST', '/api/upload', form)), isUpload: true };
	}
	if (pick < 0.65)
		return send('POST', '/api/moveItem', { fromPath: `folder/${name()}`, toPath: name(), type, onConflict: 'replace' });
	if (pick < 0.7) return send('POST', '/api/renameItem', { oldPath: file(), newName: name(), type });
	if (pick < 0.75) {
		await send('POST', '/api/createFolder', { directory: '', folderName: 'folder', type });
		return send('POST', '/api/moveItem', { fromPath: name(), toPath: `folder/${name()}`, type, onConflict: 'replace' });
	}
	if (pick < 0.85) {
		const filePath = file();
		const { trashId } = JSON.parse((await send('DELETE', '/api/deleteItem', { filePath, type })).text);
		return send('POST', '/api/trash/restore', { ids: trashId === undefined ? [] : [trashId] });
	}
	const filePath = file();
	const { versions = [] } = JSON.parse((await send('GET', `/api/versions/${filePath}?type=${type}`)).text);
	const version = versions[Math.floor(Math.random() * versions.length)];
	if (version === undefined) return { status: 404 };
	return send('POST', '/api/versions/restore', { filePath, type, id: version.id });
}

/** The error of fetch if the server does not answer. */
function ignoreBrokenConnections(error: unknown): void {
	if (!(error instanceof TypeError)) throw error;
}
