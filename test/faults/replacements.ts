import { randomBytes, randomUUID } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import { type Client, startFailingServer, temporaryFolder } from './uploading.js';

const clients = 4;

/** The storages of a server with an index can't be made to fail: their calls are those of the index. */
const flags = { '--search-index': 'false' };

/** So few that no file gets more versions than it may have: then none has to go. */
const operationsPerRound = 96;

/** Files of each round, of which those are never moved or deleted. */
const kept = Array.from({ length: 8 }, (_, n) => `kept-${n}`);
const loose = ['loose-1', 'loose-2', 'loose-3', 'sub/loose-1', 'sub/loose-2', 'sub/loose-3'];

/** What the clients have done in one folder. */
interface Round {
	folder: string;
	/** Every content that was sent, whatever became of it. */
	sent: Set<string>;
	/** The contents that were answered 200, by the kept file that has them, or '' for all others. */
	answered: Map<string, string>;
	operations: number;
}

/**
 * Four clients of one user replace the same files by forms, resumable uploads, copies and moves, delete and restore
 * them, at a server that dies right after a replacement, before its client gets an answer. Each content whose call was
 * answered is the content of its own file in the end, or one of its versions; those of files that were moved or
 * deleted are somewhere.
 */
export async function dyingAfterReplacements(t: ExecutionContext, operations: number): Promise<void> {
	const dataDir = await temporaryFolder(t);
	const done = { operations: 0, contents: 0, deaths: 0 };
	let cookie = '';
	for (let n = 0; done.operations < operations; n++) {
		const round: Round = { folder: `round-${n}`, sent: new Set(), answered: new Map(), operations: 0 };
		const diesAfterReplacements = 1 + Math.floor(Math.random() * 25);
		const server = await startFailingServer(t, { dataDir, flags, diesAfterReplacements });
		if (cookie === '') cookie = await server.register('ada');
		const client = { url: server.url, cookie };
		const ends = Array.from({ length: clients }, () => workUntilItDies(client, round));
		if ((await Promise.all(ends)).includes('died')) done.deaths++;
		await server.stop('SIGKILL');
		done.operations += round.operations;
		done.contents += round.answered.size;
		const again = await startFailingServer(t, { dataDir, flags });
		await assertNothingLost(t, { url: again.url, cookie }, round);
		await again.stop();
	}
	t.true(done.deaths > 0);
	t.true(done.contents > done.operations / 4, `${done.contents} contents were answered`);
	t.log(`${done.operations} operations with ${done.contents} contents, ${done.deaths} deaths`);
}

/** Resolves once the server has ended, or enough is done. */
async function workUntilItDies(client: Client, round: Round): Promise<'died' | 'done'> {
	try {
		while (round.operations < operationsPerRound) {
			round.operations++;
			await oneOf(ways)(client, round);
		}
		return 'done';
	} catch (error) {
		// The error of fetch if the server does not answer.
		if (!(error instanceof TypeError)) throw error;
		return 'died';
	}
}

type Way = (client: Client, round: Round) => Promise<void>;

/** Sends a new content over a file by a form. */
const sendForm: Way = async (client, round) => {
	const name = oneOf([...kept, ...loose]);
	const content = newContent(round);
	const more: Record<string, string> = {};
	if (Math.random() < 0.5) {
		const etag = await etagOf(client, round, name);
		if (etag !== undefined) more.ifMatch = etag;
	}
	if (await upload(client, round, name, content, { onConflict: 'replace', ...more })) answered(round, name, content);
};

/** Sends a new content over a file by a resumable upload. */
const sendChunks: Way = async (client, round) => {
	const name = oneOf([...kept, ...loose]);
	const content = newContent(round);
	const metadata = { filename: baseOf(name), directory: folderOf(round, name), onConflict: 'replace' };
	const created = await call(client, 'POST', '/api/uploads', undefined, {
		'tus-resumable': '1.0.0',
		'upload-length': String(content.length),
		'upload-metadata': Object.entries(metadata)
			.map(([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`)
			.join(','),
	});
	if (created.status !== 201) return;
	const sent = await call(client, 'PATCH', String(created.headers.get('location')), content, {
		'tus-resumable': '1.0.0',
		'upload-offset': '0',
		'content-type': 'application/offset+octet-stream',
	});
	if (sent.status === 204 && sent.headers.has('stowage-entry-path')) answered(round, name, content);
};

/** Copies or moves a new file over an existing one. */
const bring =
	(name: 'copyItem' | 'moveItem'): Way =>
	async (client, round) => {
		const target = oneOf([...kept, ...loose]);
		const content = newContent(round);
		const source = `new/${randomUUID()}`;
		if (!(await upload(client, round, source, content, {}))) return;
		// Until it has another place.
		answered(round, '', content);
		if (await post(client, name, pasteOf(round, source, target))) answered(round, target, content);
	};

/** Moves a file with its versions over another one. */
const moveLoose: Way = async (client, round) => {
	const source = oneOf(loose);
	const target = oneOf(loose.filter((name) => folderOf(round, name) !== folderOf(round, source)));
	await post(client, 'moveItem', pasteOf(round, source, target));
};

/** Restores a version of a file. */
const restoreVersion: Way = async (client, round) => {
	const name = oneOf([...kept, ...loose]);
	const filePath = `${round.folder}/${name}`;
	const versions = await versionsOf(client, filePath);
	if (versions.length > 0) await post(client, 'versions/restore', { filePath, type: 'private', id: oneOf(versions) });
};

const remove: Way = async (client, round) => {
	const body = JSON.stringify({ filePath: `${round.folder}/${oneOf(loose)}`, type: 'private' });
	await call(client, 'DELETE', '/api/deleteItem', body, json);
};

const restoreTrash: Way = async (client) => {
	const ids = await trashed(client);
	if (ids.length > 0) await post(client, 'trash/restore', { ids: ids.slice(0, 2) });
};

const ways: readonly Way[] = [
	...Array.from({ length: 5 }, () => sendForm),
	...[sendChunks, sendChunks, bring('copyItem'), bring('moveItem'), moveLoose, restoreVersion, restoreVersion],
	...[remove, restoreTrash],
];

/** Each content that was answered is where it belongs, and each file is one that was sent, whole. */
async function assertNothingLost(t: ExecutionContext, client: Client, { folder, ...round }: Round): Promise<void> {
	for (let ids = await trashed(client); ids.length > 0; ids = await trashed(client))
		await post(client, 'trash/restore', { ids });
	const found = new Map<string, Set<string>>();
	for (const file of await filesBelow(client, folder)) {
		const contents = new Set([await textOf(client, file)]);
		for (const id of await versionsOf(client, file)) contents.add(await textOf(client, file, id));
		for (const content of contents) t.true(round.sent.has(content), `${file} has something that was never sent`);
		found.set(file, contents);
	}
	const everywhere = new Set([...found.values()].flatMap((contents) => [...contents]));
	for (const [content, name] of round.answered) {
		const place = kept.includes(name) ? found.get(`${folder}/${name}`) : everywhere;
		t.true(
			place?.has(content),
			`${folder}: ${content.slice(0, 8)} was answered for ${name || 'a new file'} and is lost`,
		);
	}
}

function newContent({ sent }: Round): string {
	const content = randomBytes(8).toString('hex') + 'x'.repeat(Math.floor(Math.random() * 5000));
	sent.add(content);
	return content;
}

function answered({ answered: contents }: Round, name: string, content: string): void {
	contents.set(content, name);
}

function pasteOf({ folder }: Round, from: string, to: string): object {
	return { fromPath: `${folder}/${from}`, toPath: `${folder}/${to}`, type: 'private', onConflict: 'replace' };
}

async function upload(
	client: Client,
	round: Round,
	name: string,
	content: string,
	fields: Record<string, string>,
): Promise<boolean> {
	const form = new FormData();
	form.set('directory', folderOf(round, name));
	for (const [field, value] of Object.entries(fields)) form.set(field, value);
	form.set('file', new Blob([content]), baseOf(name));
	const headers = { 'stowage-upload-key': randomBytes(16).toString('hex') };
	const { status } = await call(client, 'POST', '/api/upload', form, headers);
	if (status !== 404) return status === 200;
	await makeFolders(client, round, name);
	return false;
}

async function makeFolders(client: Client, round: Round, name: string): Promise<void> {
	const { folder } = round;
	await post(client, 'createFolder', { directory: '', folderName: folder, type: 'private' });
	if (name.includes('/'))
		await post(client, 'createFolder', { directory: folder, folderName: name.split('/')[0], type: 'private' });
}

async function etagOf(client: Client, { folder }: Round, name: string): Promise<string | undefined> {
	const { status, headers } = await call(client, 'HEAD', `/api/download/${folder}/${name}?type=private`);
	return status === 200 ? (headers.get('etag') ?? undefined) : undefined;
}

async function trashed(client: Client): Promise<string[]> {
	const { text } = await call(client, 'GET', '/api/trash');
	return (JSON.parse(text) as { entries: { id: string }[] }).entries.map(({ id }) => id);
}

async function versionsOf(client: Client, file: string): Promise<string[]> {
	const { status, text } = await call(client, 'GET', `/api/versions/${encodeURI(file)}?type=private`);
	return status === 404 ? [] : (JSON.parse(text) as { versions: { id: string }[] }).versions.map(({ id }) => id);
}

async function textOf(client: Client, file: string, version?: string): Promise<string> {
	const query = version === undefined ? '' : `&version=${version}`;
	const { status, text } = await call(client, 'GET', `/api/download/${encodeURI(file)}?type=private${query}`);
	if (status !== 200) throw new Error(`${file} was answered ${status}: ${text}`);
	return text;
}

async function filesBelow(client: Client, directory: string): Promise<string[]> {
	const { status, text } = await call(client, 'GET', `/api/browse?type=private&directory=${directory}`);
	if (status === 404) return [];
	const { entries } = JSON.parse(text) as { entries: { path: string; type: string }[] };
	const nested = entries.map(({ path, type }) => (type === 'file' ? [path] : filesBelow(client, path)));
	return (await Promise.all(nested)).flat();
}

const json = { 'content-type': 'application/json' };

async function post(client: Client, name: string, body: object): Promise<boolean> {
	return (await call(client, 'POST', `/api/${name}`, JSON.stringify(body), json)).status === 200;
}

/** Rejects with a TypeError when the connection breaks, and with an Error for an answer that nothing explains. */
async function call(
	{ url, cookie }: Client,
	method: string,
	path: string,
	body?: string | FormData,
	headers: Record<string, string> = {},
): Promise<{ status: number; headers: Headers; text: string }> {
	const answer = await fetch(new URL(path, url), {
		method,
		headers: { cookie, ...headers },
		...(body === undefined ? {} : { body }),
	});
	const text = await answer.text();
	// The file is not there, its name is taken by another one, somebody was faster, or is at it.
	if (!answer.ok && ![404, 409, 412, 423].includes(answer.status))
		throw new Error(`${method} ${path} was answered ${answer.status}: ${text}`);
	return { status: answer.status, headers: answer.headers, text };
}

function folderOf({ folder }: Round, name: string): string {
	return name.includes('/') ? `${folder}/${name.split('/')[0]}` : folder;
}

function baseOf(name: string): string {
	return name.split('/').at(-1) as string;
}

function oneOf<T>(all: readonly T[]): T {
	return all[Math.floor(Math.random() * all.length)] as T;
}
