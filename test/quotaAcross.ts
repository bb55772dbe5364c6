import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import type { ExecutionContext } from 'ava';
import { answerOf } from './answerOf.js';
import { memoryFolder } from './memoryFolder.js';
import { plainArgs, type ServerProcess, startServer } from './serverProcess.js';

const megabyte = 1024 * 1024;

interface Filling {
	/** How many servers there are, and what each is started with. */
	servers: number;
	flags?: readonly string[];
	/** MB. */
	quota: number;
	connections: number;
	/** MB that may lie there beyond the quota, and that may be left, besides what others are uploading, where an upload is refused. */
	overshoot: number;
	refusable: number;
	/** The largest upload, in kB. */
	largest: number;
}

/** Several servers fill a home until each connection was refused: no more lies there in the end, and none was refused too early. */
export async function fillHome(t: ExecutionContext, filling: Filling, databaseUrl?: string): Promise<void> {
	const { quota, connections, flags = [] } = filling;
	const dataDir = await memoryFolder(t);
	const args = plainArgs(
		...([dataDir, '--search-index', 'false', '--quotas-user-bytes', `${quota} MB`, ...flags] as const),
		...(databaseUrl === undefined ? [] : ['--database-url', databaseUrl]),
	);
	const first = await startServer(t, { args });
	const others = await Promise.all(Array.from({ length: filling.servers - 1 }, () => startServer(t, { args })));
	const servers = [first, ...others];
	const cookie = await first.register('ada');
	const home = path.join(dataDir, 'files/users/ada');
	let tooEarly = 0;
	let stored = 0;
	/** The uploads under way, each with the sizes of those that were so at the same time and were not stored: they took room too. */
	const underWay = new Map<string, { size: number; met: Map<string, number> }>();
	const begin = (name: string, size: number): ReadonlyMap<string, number> => {
		const met = new Map([...underWay].map(([other, { size }]) => [other, size]));
		for (const other of underWay.values()) other.met.set(name, size);
		underWay.set(name, { size, met });
		return met;
	};
	const lane = async (n: number): Promise<void> => {
		for (let file = 0; ; file++) {
			const size = Math.ceil((((n * 7919 + file * 104_729) % 1000) / 1000) * filling.largest) * 1024 + 1;
			const server = servers[(n + file) % servers.length] as ServerProcess;
			const send = (n + file) % 3 === 0 ? sendInParts : sendForm;
			const name = `${n}-${file}`;
			const met = begin(name, size);
			const status = await send(server, cookie, name, size);
			if (status === 507) {
				const free = quota * megabyte - (await bytesBelow(home));
				const ofOthers = [...met.values()].reduce((all, each) => all + each, 0);
				underWay.delete(name);
				if (free - ofOthers > filling.refusable * megabyte) tooEarly++;
				// Smaller ones may fit yet.
				if (free < megabyte || file > 10_000) return;
				if (size > free / 2) continue;
				return;
			}
			if (status !== 200) throw new Error(`An upload was answered with ${status}.`);
			stored += size;
			underWay.delete(name);
			for (const other of underWay.values()) other.met.delete(name);
		}
	};
	await Promise.all(Array.from({ length: connections }, (_, n) => lane(n)));
	const found = await bytesBelow(home);
	t.log(`${found} bytes of ${quota * megabyte}, ${tooEarly} refused too early`);
	t.is(found, stored);
	t.true(found <= (quota + filling.overshoot) * megabyte, `${found} bytes lie there`);
	t.true(found >= (quota - filling.refusable) * megabyte, `only ${found} bytes lie there`);
	t.is(tooEarly, 0);
}

async function sendForm({ url }: ServerProcess, cookie: string, name: string, size: number): Promise<number> {
	const form = new FormData();
	form.append('file', new Blob([Buffer.alloc(size, 7)]), name);
	const encoded = new Response(form);
	const headers = { cookie, 'content-type': encoded.headers.get('content-type') ?? '' };
	const body = Buffer.from(await encoded.arrayBuffer());
	return (await answerOf(new URL('/api/upload', url), 'POST', headers, body)).status;
}

/** As a resumable upload of two parts. One that is refused is taken back. */
async function sendInParts({ url }: ServerProcess, cookie: string, name: string, size: number): Promise<number> {
	const tus = { cookie, 'tus-resumable': '1.0.0' };
	const metadata = Object.entries({ filename: name, type: 'private', directory: '' })
		.map(([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`)
		.join(',');
	const headers = { ...tus, 'upload-length': String(size), 'upload-metadata': metadata };
	const made = await answerOf(new URL('/api/uploads', url), 'POST', headers);
	if (made.status !== 201) return made.status;
	const address = new URL(made.headers.location ?? '', url);
	const half = Math.floor(size / 2);
	for (const [offset, end] of [
		[0, half],
		[half, size],
	] as const) {
		if (offset === end) continue;
		const part = { ...tus, 'upload-offset': String(offset), 'content-type': 'application/offset+octet-stream' };
		const { status } = await answerOf(address, 'PATCH', part, Buffer.alloc(end - offset, 7));
		if (status === 204) continue;
		await answerOf(address, 'DELETE', tus);
		return status;
	}
	return 200;
}

async function bytesBelow(folder: string): Promise<number> {
	const names = await readdir(folder);
	const sizes = await Promise.all(
		names.map(async (name) => {
			const found = await stat(path.join(folder, name));
			return found.isDirectory() ? bytesBelow(path.join(folder, name)) : found.size;
		}),
	);
	return sizes.reduce((all, size) => all + size, 0);
}
