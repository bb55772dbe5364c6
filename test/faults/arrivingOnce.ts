import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import { type Answer, answerOf } from '../answerOf.js';

export interface Load {
	/** Resumable uploads, and the bytes of each. */
	uploads: number;
	bytes: number;
	/** Forms with a key, of 10 kB. */
	forms: number;
	/** For how many milliseconds a call is repeated until it succeeds. */
	repeatMs: number;
}

const tus = { 'tus-resumable': '1.0.0' };

/** Answers after which a client tries again. */
const later = [408, 409, 423, 429, 502, 503, 504];

/**
 * Sends files while something fails all the time, each call repeated until it succeeds. Resolves to the SHA-256 of each file that must
 * lie in the home, by its name. `address` is where the server can be reached at the moment.
 */
export async function sendAll(load: Load, address: () => string, cookie: string): Promise<Map<string, string>> {
	const expected = new Map<string, string>();
	const send = (method: string, url: string, headers: Record<string, string>, body?: Buffer) =>
		answerOf(new URL(url, address()), method, { cookie, ...headers }, body);
	const repeat = (what: string, call: () => Promise<Answer>) => repeated(what, call, load.repeatMs);

	async function upload(n: number): Promise<void> {
		const name = `tus-${n}`;
		const bytes = randomBytes(load.bytes);
		expected.set(name, sha256(bytes));
		const metadata = `filename ${Buffer.from(name).toString('base64')}`;
		const begun = { ...tus, ...newKey(), 'upload-length': `${bytes.length}`, 'upload-metadata': metadata };
		const { headers } = await repeat(`the beginning of ${name}`, () => send('POST', '/api/uploads', begun));
		const location = headers.location ?? '';
		for (;;) {
			const head = await repeat(`the offset of ${name}`, () => send('HEAD', location, tus));
			const offset = Number(head.headers['upload-offset']);
			if (offset === bytes.length) return;
			const type = 'application/offset+octet-stream';
			const part = bytes.subarray(offset, offset + 8 * 1024 * 1024);
			await send('PATCH', location, { ...tus, 'upload-offset': `${offset}`, 'content-type': type }, part).catch(() =>
				wait(100),
			);
		}
	}

	async function form(n: number): Promise<void> {
		const name = `form-${n}`;
		const bytes = randomBytes(10_000);
		expected.set(name, sha256(bytes));
		const begin = `--b\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n`;
		const body = Buffer.concat([Buffer.from(begin), bytes, Buffer.from('\r\n--b--\r\n')]);
		const headers = { ...newKey(), 'content-type': 'multipart/form-data; boundary=b' };
		await repeat(name, () => send('POST', '/api/upload', headers, body));
	}

	const uploads = Array.from({ length: load.uploads }, (_, n) => () => upload(n));
	const forms = Array.from({ length: load.forms }, (_, n) => () => form(n));
	const lane = async (work: (() => Promise<void>)[]) => {
		for (let next = work.shift(); next !== undefined; next = work.shift()) await next();
	};
	await Promise.all(Array.from({ length: 8 }, () => [lane(uploads), lane(forms)]).flat());
	return expected;
}

/** Each file lies in the home once, with its bytes, and nothing else does. */
export async function assertArrivedOnce(
	t: ExecutionContext,
	home: string,
	expected: ReadonlyMap<string, string>,
): Promise<void> {
	const names = (await readdir(home)).filter((name) => name !== 'Public');
	t.deepEqual(
		[...expected.keys()].filter((name) => !names.includes(name)),
		[],
		'lost',
	);
	t.deepEqual(
		names.filter((name) => !expected.has(name)),
		[],
		'doubled',
	);
	for (const [name, sum] of expected) t.is(sha256(await readFile(path.join(home, name))), sum, name);
}

async function repeated(what: string, call: () => Promise<Answer>, repeatMs: number): Promise<Answer> {
	let last: unknown;
	for (const end = performance.now() + repeatMs; performance.now() < end; await wait(100)) {
		try {
			const answer = await call();
			if (answer.status < 300) return answer;
			last = answer.status;
			if (!later.includes(answer.status)) break;
		} catch (error) {
			// The connection broke, or nothing listens.
			if ((error as NodeJS.ErrnoException).code === undefined) throw error;
			last = error;
		}
	}
	throw new Error(`${what} did not succeed: ${last}`);
}

/** By which a repeated call finds what the first one did. */
function newKey() {
	return { 'stowage-upload-key': randomBytes(16).toString('hex') };
}

function sha256(bytes: Buffer): string {
	return createHash('sha256').update(bytes).digest('hex');
}
