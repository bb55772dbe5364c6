import { createHash, randomBytes } from 'node:crypto';
import { type Failure, isFailure, parsePath, rootPath } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { newIdempotencyKey } from '../../src/api/client/idempotency.js';
import { createEnsureFolder } from '../../src/api/uploads/ensureFolder.js';
import type { Timing } from '../../src/api/uploads/RetryPolicy.js';
import { nothingSent, sizeOf, sizesBefore, withPiece } from '../../src/api/uploads/sentPieces.js';
import { uploadBySize } from '../../src/api/uploads/transport.js';
import type { Upload, UploadWait } from '../../src/api/uploads/upload.js';
import { terminateUpload, type UploadDependencies } from '../../src/api/uploads/uploadChunks.js';
import { UnreadableFile, UploadNetworkFailure } from '../../src/api/uploads/uploadFailures.js';
import { areaReceiver, shareReceiver } from '../../src/api/uploads/uploadReceiver.js';
import { createUploadRecords } from '../../src/api/uploads/uploadRecords.js';
import type { SendUpload, UploadRequest, UploadResponse } from '../../src/api/uploads/uploadRequest.js';
import { describeFailure } from '../../src/features/uploadQueue/running/describeFailure.js';

const kilobyte = 1024;
const megabyte = 1024 * kilobyte;

type Answer = { status: number; headers?: Record<string, string>; body?: unknown };
type Fault = Answer | 'lost' | 'answer lost';

/** A server in memory. Each of `faults` happens to one of the next requests; undefined lets one pass. */
class FakeServer {
	readonly requests: { method: string; offset: number; size: number }[] = [];
	readonly uploads = new Map<string, { size: number; metadata: string; bytes: Buffer; published?: string }>();
	readonly forms: { fileName: string; onConflict: unknown; key: string }[] = [];
	readonly faults: (Fault | undefined)[] = [];
	/** A proxy in front refuses larger bodies. */
	bodyLimit = Number.POSITIVE_INFINITY;
	/** Whose session it is now: this user's, or one's who has none of the uploads. */
	isOther = false;
	/** What arrived with the session of the other one. */
	readonly ofOther: string[] = [];
	/** How many times a commit fails before it succeeds. */
	commitFaults = 0;
	/** Called before the bytes at this offset are taken. */
	onPatch: (offset: number) => unknown = () => undefined;
	#nextId = 1;

	readonly send: SendUpload = async ({ method, url, headers, body, onProgress }) => {
		const bytes = await bytesOf(body);
		this.requests.push({ method, offset: Number(headers['upload-offset'] ?? 0), size: bytes.length });
		const fault = this.faults.shift();
		if (fault === 'lost') throw new UploadNetworkFailure();
		if (fault !== undefined && fault !== 'answer lost') return answerOf(fault);
		if (bytes.length > this.bodyLimit) return answerOf({ status: 413, body: '<html>' });
		onProgress?.(bytes.length, bytes.length);
		if (this.isOther && method === 'POST') this.ofOther.push(url);
		if (this.isOther && method !== 'POST') return answerOf(refusal(404, 'NOT_FOUND'));
		const answer = this.#answer(method, url, headers, bytes, body);
		if (fault === 'answer lost') throw new UploadNetworkFailure();
		return answerOf(answer);
	};

	#answer(method: string, url: string, headers: UploadRequest['headers'], bytes: Buffer, body: unknown): Answer {
		if (body instanceof FormData) return this.#form(body, headers, bytes);
		if (method === 'POST') {
			const id = `u${this.#nextId++}`;
			const metadata = headers['upload-metadata'] ?? '';
			this.uploads.set(id, { size: Number(headers['upload-length']), metadata, bytes: Buffer.alloc(0) });
			return { status: 201, headers: { location: `http://inner:7420/api/uploads/${id}` } };
		}
		const id = url.split('/').at(-1) ?? '';
		const upload = this.uploads.get(id);
		if (!upload) return { status: 404 };
		if (method === 'DELETE') {
			this.uploads.delete(id);
			return { status: 204 };
		}
		if (method === 'PATCH') {
			if (Number(headers['upload-offset']) !== upload.bytes.length) return refusal(409, 'CONFLICT');
			const isRight = bytes.length === 0 || headers['upload-checksum'] === `sha256 ${digestOf(bytes)}`;
			if (!isRight) return refusal(460, 'CHECKSUM_MISMATCH');
			this.onPatch(upload.bytes.length);
			upload.bytes = Buffer.concat([upload.bytes, bytes]);
		}
		const offset = { 'upload-offset': String(upload.bytes.length) };
		if (upload.bytes.length < upload.size) return { status: 204, headers: offset };
		if (this.commitFaults-- > 0) return refusal(503, 'UNAVAILABLE');
		upload.published = 'näme.bin';
		return { status: 204, headers: { ...offset, 'stowage-entry-path': 'docs/n%C3%A4me.bin' } };
	}

	#form(form: FormData, headers: UploadRequest['headers'], bytes: Buffer): Answer {
		if (headers['stowage-file-digest'] !== `sha-256=:${digestOf(bytes)}:`) return refusal(460, 'CHECKSUM_MISMATCH');
		const key = headers['stowage-upload-key'] ?? '';
		const fileName = String(form.get('fileName'));
		if (!this.forms.some((sent) => sent.key === key)) {
			this.forms.push({ fileName, onConflict: form.get('onConflict'), key });
		}
		const entry = { name: fileName, path: fileName, type: 'file', size: 1, mtime: 1 };
		return { status: 200, body: { message: 'File uploaded.', entries: [entry] } };
	}

	get patches() {
		return this.requests.filter(({ method }) => method === 'PATCH');
	}

	get bytes(): Buffer {
		return [...this.uploads.values()].at(-1)?.bytes ?? Buffer.alloc(0);
	}
}

async function bytesOf(body: Blob | FormData | undefined): Promise<Buffer> {
	if (body === undefined) return Buffer.alloc(0);
	const blob = body instanceof FormData ? (body.get('file') as File) : body;
	return Buffer.from(await blob.arrayBuffer());
}

function digestOf(bytes: Uint8Array): string {
	return createHash('sha256').update(bytes).digest('base64');
}

function refusal(status: number, code: string, message = 'Says the server.'): Answer {
	return { status, body: { statusCode: status, code, error: message, message } };
}

function answerOf({ status, headers = {}, body }: Answer): UploadResponse {
	return { status, header: (name) => headers[name] ?? null, body };
}

/** A storage with the interface of the browser's. */
class FakeStorage {
	[key: string]: unknown;
	getItem(key: string): string | null {
		return (this[key] as string | undefined) ?? null;
	}
	setItem(key: string, value: string): void {
		this[key] = value;
	}
	removeItem(key: string): void {
		delete this[key];
	}
}

/** One page: its dependencies, with time that passes only while it sleeps. */
function openPage(server: FakeServer, storage = new FakeStorage()) {
	const slept: number[] = [];
	let time = 0;
	const timing: Timing = {
		now: () => time,
		async sleep(milliseconds, signal) {
			signal.throwIfAborted();
			slept.push(milliseconds);
			time += milliseconds;
		},
	};
	const dependencies: UploadDependencies = {
		receiver: areaReceiver,
		send: server.send,
		hash: async (blob) => digestOf(new Uint8Array(await blob.arrayBuffer())),
		records: createUploadRecords(storage as unknown as Storage),
		timing,
		chunks: { size: megabyte },
	};
	const waits: (UploadWait | undefined)[] = [];
	const progress: number[] = [];
	const offsets: number[] = [];
	let signIns = 0;
	let checks = 0;
	let isOther = false;
	return {
		dependencies,
		storage,
		slept,
		waits,
		progress,
		offsets,
		signIns: () => signIns,
		/** How often the session was checked without an occasion. */
		checks: () => checks,
		/** Somebody else signs in. Whoever waits for the user waits until that one is back. */
		switchUser: () => {
			isOther = true;
			server.isOther = true;
		},
		advance: (milliseconds: number) => {
			time += milliseconds;
		},
		upload: (upload: Upload, signal = new AbortController().signal) =>
			uploadBySize(
				dependencies,
				upload,
				{
					onProgress: (size) => progress.push(size),
					onOffset: (size) => offsets.push(size),
					onWait: (reason) => waits.at(-1) !== reason && waits.push(reason),
					waitForSignIn: async (_, maxAgeMs = 0) => {
						if (maxAgeMs > 0) checks++;
						else signIns++;
						const hasWaited = isOther;
						isOther = false;
						server.isOther = false;
						return hasWaited;
					},
				},
				signal,
			),
	};
}

function uploadOf(size: number, changes: Partial<Upload> = {}): Upload & { bytes: Buffer<ArrayBuffer> } {
	const bytes = Buffer.from(new Uint8Array(randomBytes(size)).buffer);
	return {
		file: new File([bytes], 'näme.bin', { lastModified: 1234 }),
		fileName: 'näme.bin',
		directory: parsePath('docs'),
		area: 'private',
		username: 'ada',
		onConflict: 'rename',
		key: newIdempotencyKey(),
		...changes,
		bytes,
	};
}

const fails = async (t: ExecutionContext, uploading: Promise<unknown>, message: string) => {
	const error = await t.throwsAsync(uploading);
	t.is(error?.message, message);
	t.true(isFailure(error));
	return error as Failure;
};

test('a large file is uploaded in chunks, each with its digest, and gets the name that the server returns', async (t) => {
	const server = new FakeServer();
	const page = openPage(server);
	const upload = uploadOf(2.5 * megabyte);
	t.deepEqual(await page.upload(upload), { name: 'näme.bin', isVerified: true });
	t.deepEqual(
		server.patches.map(({ offset, size }) => [offset, size]),
		[
			[0, megabyte],
			[megabyte, megabyte],
			[2 * megabyte, 0.5 * megabyte],
		],
	);
	t.true(server.bytes.equals(upload.bytes));
	t.is(page.progress.at(-1), upload.file.size);
	t.deepEqual(Object.keys(page.storage), []);
});

test('an upload names the file, its folder, its area and its time', async (t) => {
	const server = new FakeServer();
	await openPage(server).upload(uploadOf(megabyte));
	const metadata = [...server.uploads.values()][0]?.metadata.split(',').map((pair) => pair.split(' '));
	t.deepEqual(
		metadata?.map(([name, value = '']) => [name, Buffer.from(value, 'base64').toString()]),
		[
			['filename', 'näme.bin'],
			['directory', 'docs'],
			['type', 'private'],
			['lastModified', '1234'],
		],
	);
});

test('a small file is uploaded as one form with its digest, and a lost response makes no second file', async (t) => {
	const server = new FakeServer();
	const page = openPage(server);
	server.faults.push('answer lost', 'lost');
	t.deepEqual(await page.upload(uploadOf(10)), { name: 'näme.bin', isVerified: true });
	t.is(server.requests.length, 3);
	t.is(server.forms.length, 1);
	t.deepEqual(page.waits, ['connection', undefined]);
});

test('an upload says what happens where its name is taken, unless it gets another name', async (t) => {
	const server = new FakeServer();
	const page = openPage(server);
	for (const onConflict of ['rename', 'replace', 'fail'] as const) {
		await page.upload(uploadOf(10, { onConflict }));
		await page.upload(uploadOf(megabyte, { onConflict }));
	}
	t.deepEqual(
		server.forms.map(({ onConflict }) => onConflict),
		[null, 'replace', 'fail'],
	);
	t.deepEqual(
		[...server.uploads.values()].map(({ metadata }) => /onConflict (\S+)/.exec(metadata)?.[1]),
		[undefined, btoa('replace'), btoa('fail')],
	);
});

test('a file whose name is taken is refused at once', async (t) => {
	for (const size of [10, 2 * megabyte]) {
		const server = new FakeServer();
		const page = openPage(server);
		server.faults.push(refusal(409, 'ALREADY_EXISTS', 'It exists already.'));
		const failure = await fails(t, page.upload(uploadOf(size, { onConflict: 'fail' })), 'It exists already.');
		t.is(failure.kind, 'alreadyExists');
		t.is(server.requests.length, 1);
	}
});

test('an upload that was begun to replace a file is not resumed as one that keeps both', async (t) => {
	const server = new FakeServer();
	const storage = new FakeStorage();
	server.faults.push(undefined, undefined, refusal(400, 'INVALID'));
	const upload = uploadOf(2 * megabyte, { onConflict: 'replace' });
	await t.throwsAsync(openPage(server, storage).upload(upload));
	await openPage(server, storage).upload({ ...upload, onConflict: 'rename', key: newIdempotencyKey() });
	t.is(server.uploads.size, 2);
	await openPage(server, storage).upload(upload);
	t.is(server.uploads.size, 2);
});

test('a lost connection is waited for, and only the interrupted chunk is sent again', async (t) => {
	const server = new FakeServer();
	const page = openPage(server);
	server.faults.push(undefined, undefined, 'lost', 'lost', 'lost');
	const upload = uploadOf(3 * megabyte);
	await page.upload(upload);
	t.deepEqual(
		server.patches.map(({ offset }) => offset),
		[0, megabyte, megabyte, 2 * megabyte],
	);
	t.true(server.bytes.equals(upload.bytes));
	t.deepEqual(page.waits, ['connection', undefined]);
});

test('a chunk whose response was lost is not sent again', async (t) => {
	const server = new FakeServer();
	server.faults.push(undefined, 'answer lost');
	const upload = uploadOf(2 * megabyte);
	await openPage(server).upload(upload);
	t.is(server.patches.length, 2);
	t.true(server.bytes.equals(upload.bytes));
});

test('an upload fails after five minutes without a connection', async (t) => {
	const server = new FakeServer();
	const page = openPage(server);
	server.faults.push(...Array<Fault>(1000).fill('lost'));
	await fails(t, page.upload(uploadOf(10)), 'Network error during upload');
	const waited = page.slept.reduce((sum, milliseconds) => sum + milliseconds, 0);
	t.true(waited >= 300_000 && waited < 310_000, `${waited}`);
});

test('a night in which the computer sleeps does not count as five minutes without a connection', async (t) => {
	const server = new FakeServer();
	const page = openPage(server);
	const { sleep } = page.dependencies.timing;
	page.dependencies.timing.sleep = async (milliseconds, signal) => {
		if (page.slept.length === 2) page.advance(8 * 3600_000);
		await sleep(milliseconds, signal);
	};
	server.faults.push(undefined, 'lost', 'lost', 'lost', 'lost');
	await t.notThrowsAsync(page.upload(uploadOf(megabyte)));
});

const fault = test.macro(async (t, size: number, status: number) => {
	const server = new FakeServer();
	const page = openPage(server);
	server.faults.push(...Array<Fault>(9).fill(refusal(status, 'UNAVAILABLE')));
	await fails(t, page.upload(uploadOf(size)), `Upload failed with status ${status}`);
	t.is(server.requests.length, 4);
	t.is(
		page.slept.reduce((sum, milliseconds) => sum + milliseconds, 0),
		10_000,
	);
	t.true(page.waits.includes('server'));
});
test('a small file is retried three times over ten seconds on 503', fault, 10, 503);
test('a small file is retried three times over ten seconds on 429', fault, 10, 429);
test('a large file is retried three times over ten seconds on 500', fault, megabyte, 500);
test('a large file is retried three times over ten seconds on 507', fault, megabyte, 507);

test('Retry-After sets the delay of a retry', async (t) => {
	const server = new FakeServer();
	const page = openPage(server);
	server.faults.push({ ...refusal(429, 'RATE_LIMITED'), headers: { 'retry-after': '7' } });
	await page.upload(uploadOf(10));
	t.deepEqual(page.slept, [7000]);
});

test("any other refusal fails at once with the server's sentence", async (t) => {
	for (const size of [10, megabyte]) {
		const server = new FakeServer();
		const page = openPage(server);
		server.faults.push(refusal(413, 'TOO_LARGE', 'The file is too large.'));
		const failure = await fails(t, page.upload(uploadOf(size)), 'The file is too large.');
		t.is(failure.kind, 'tooLarge');
		t.is(server.requests.length, 1);
	}
});

test('a refusal by a proxy is reported with its status', async (t) => {
	const server = new FakeServer();
	server.faults.push({ status: 403, body: '<html>' });
	await fails(t, openPage(server).upload(uploadOf(10)), 'Upload failed with status 403');
});

test('an invalid response is reported as unreadable', async (t) => {
	for (const size of [10, megabyte]) {
		const server = new FakeServer();
		server.faults.push({ status: 201, body: 'Welcome to this hotel' });
		await fails(t, openPage(server).upload(uploadOf(size)), 'Failed to parse server response');
	}
});

test('a proxy that accepts only small requests gets smaller chunks, for the whole session', async (t) => {
	const server = new FakeServer();
	const page = openPage(server);
	server.bodyLimit = 300 * kilobyte;
	const first = uploadOf(megabyte);
	await page.upload(first);
	t.true(server.bytes.equals(first.bytes));
	server.requests.length = 0;
	await page.upload(uploadOf(megabyte));
	t.true(server.patches.every(({ size }) => size === 256 * kilobyte));
	t.is(server.patches.length, 4);
});

test('a small file that is too large for a proxy is uploaded in chunks', async (t) => {
	const server = new FakeServer();
	server.bodyLimit = 300 * kilobyte;
	const upload = uploadOf(500 * kilobyte);
	t.like(await openPage(server).upload(upload), { isVerified: true });
	t.true(server.bytes.equals(upload.bytes));
});

test('a proxy that does not accept the smallest chunk fails the file', async (t) => {
	const server = new FakeServer();
	server.bodyLimit = 100 * kilobyte;
	await fails(t, openPage(server).upload(uploadOf(megabyte)), 'Upload failed with status 413');
});

test('a proxy that interrupts large chunks without a response gets smaller ones', async (t) => {
	const server = new FakeServer();
	const page = openPage(server);
	const { send } = page.dependencies;
	page.dependencies.chunks.size = 4 * megabyte;
	page.dependencies.send = async (request) => {
		if (request.body instanceof Blob && request.body.size > 1.2 * megabyte) throw new UploadNetworkFailure();
		return send(request);
	};
	const upload = uploadOf(4 * megabyte);
	await page.upload(upload);
	t.true(server.bytes.equals(upload.bytes));
});

test('a chunk that was damaged in transit is sent again, not the file', async (t) => {
	const server = new FakeServer();
	const page = openPage(server);
	server.faults.push(undefined, undefined, refusal(460, 'CHECKSUM_MISMATCH'));
	const upload = uploadOf(2 * megabyte);
	await page.upload(upload);
	t.deepEqual(
		server.patches.map(({ offset }) => offset),
		[0, megabyte, megabyte],
	);
	t.true(server.bytes.equals(upload.bytes));
	t.deepEqual(page.slept, []);
});

test('a chunk that is damaged each time fails the file', async (t) => {
	const server = new FakeServer();
	const page = openPage(server);
	page.dependencies.hash = async () => 'wrong';
	await fails(t, page.upload(uploadOf(megabyte)), 'Says the server.');
	t.true(server.patches.length <= 6);
});

test('a chunk of a large file is sent again at once, however often that was done for those before it', async (t) => {
	const server = new FakeServer();
	const page = openPage(server);
	const { send } = page.dependencies;
	const damaged = new Set<number>();
	page.dependencies.send = async (request) => {
		const offset = Number(request.headers['upload-offset'] ?? 0);
		if (request.method !== 'PATCH' || damaged.has(offset)) return send(request);
		damaged.add(offset);
		return answerOf(refusal(460, 'CHECKSUM_MISMATCH'));
	};
	const upload = uploadOf(10 * megabyte);
	t.like(await page.upload(upload), { isVerified: true });
	t.is(damaged.size, 10);
	t.deepEqual(page.slept, []);
});

test('an upload that the server forgets each time fails, although chunks were sent', async (t) => {
	const server = new FakeServer();
	const page = openPage(server);
	server.onPatch = () => server.uploads.clear();
	await fails(t, page.upload(uploadOf(2 * megabyte)), 'Upload failed with status 404');
	t.is(server.patches.length, 12);
});

test('a small file that was damaged in transit is sent again at once, and hashed anew', async (t) => {
	const server = new FakeServer();
	const page = openPage(server);
	const { hash } = page.dependencies;
	const digests = ['wrong', 'wrong', 'wrong'];
	page.dependencies.hash = async (blob) => digests.shift() ?? hash(blob);
	t.like(await page.upload(uploadOf(10)), { isVerified: true });
	t.is(server.requests.length, 4);
	t.is(server.forms.length, 1);
	t.deepEqual(page.slept, []);
});

test('a small file that is damaged each time fails after three retries', async (t) => {
	const server = new FakeServer();
	const page = openPage(server);
	page.dependencies.hash = async () => 'wrong';
	await fails(t, page.upload(uploadOf(10)), 'Says the server.');
	t.is(server.requests.length, 4);
	t.is(server.forms.length, 0);
});

test("another page of the same user resumes at the server's offset", async (t) => {
	const server = new FakeServer();
	const closed = openPage(server);
	const upload = uploadOf(3 * megabyte);
	const tab = new AbortController();
	const { send } = closed.dependencies;
	closed.dependencies.send = async (request) => {
		if (server.patches.length === 2) tab.abort();
		tab.signal.throwIfAborted();
		return send(request);
	};
	await t.throwsAsync(closed.upload(upload, tab.signal), { any: true, name: 'AbortError' });
	server.requests.length = 0;

	const page = openPage(server, closed.storage);
	t.deepEqual(await page.upload({ ...upload, key: newIdempotencyKey() }), { name: 'näme.bin', isVerified: true });
	t.deepEqual(
		server.requests.map(({ method, offset }) => [method, offset]),
		[
			['HEAD', 0],
			['PATCH', 2 * megabyte],
		],
	);
	t.is(page.offsets.at(-1), 2 * megabyte);
	t.true(server.bytes.equals(upload.bytes));
});

/** A page that is closed once so many chunks have been sent, and what it has kept. */
async function closedAfter(server: FakeServer, chunks: number, upload: Upload, isAnswered = true) {
	const closed = openPage(server);
	const tab = new AbortController();
	const { send } = closed.dependencies;
	closed.dependencies.send = async (request) => {
		tab.signal.throwIfAborted();
		const answer = await send(request);
		if (server.patches.length === chunks) {
			tab.abort();
			if (!isAnswered) tab.signal.throwIfAborted();
		}
		return answer;
	};
	await closed.upload(upload, tab.signal).catch(() => undefined);
	server.requests.length = 0;
	return closed.storage;
}

/** What another program has written into a file, which kept its size and its time. */
const rewritten = (upload: Upload & { bytes: Buffer }, at = 0) => {
	const bytes = Buffer.from(new Uint8Array(upload.bytes).buffer);
	bytes.writeUInt8((bytes.readUInt8(at) + 1) % 256, at);
	const file = new File([bytes], upload.file.name, { lastModified: upload.file.lastModified });
	return { ...upload, file, bytes, key: newIdempotencyKey() };
};

test('a file that has other bytes than were sent of it before is uploaded anew, though its name, size and time are the same', async (t) => {
	for (const at of [0, 2 * megabyte - 1]) {
		const server = new FakeServer();
		const upload = uploadOf(4.5 * megabyte);
		const page = openPage(server, await closedAfter(server, 2, upload));
		const other = rewritten(upload, at);
		t.deepEqual(await page.upload(other), { name: 'näme.bin', isVerified: true });
		t.true(server.bytes.equals(other.bytes));
		t.deepEqual([...server.uploads.keys()], ['u2']);
		t.deepEqual(Object.keys(page.storage), []);
		t.deepEqual(page.waits, ['checking', undefined]);
	}
	const server = new FakeServer();
	const upload = uploadOf(4.5 * megabyte);
	const page = openPage(server, await closedAfter(server, 2, upload));
	const other = rewritten(upload, 2 * megabyte);
	t.like(await page.upload(other), { isVerified: true });
	t.is(server.patches[0]?.offset, 2 * megabyte);
	t.true(server.bytes.equals(other.bytes));
});

test('a file is not said to be uploaded where the one that was published has other bytes, and that one stays', async (t) => {
	const server = new FakeServer();
	const upload = uploadOf(2.5 * megabyte);
	const storage = await closedAfter(server, 3, upload, false);
	t.is(Object.keys(storage).length, 1);
	const same = openPage(server, Object.assign(new FakeStorage(), storage));
	t.deepEqual(await same.upload({ ...upload, file: new File([upload.bytes], 'näme.bin', { lastModified: 1234 }) }), {
		...{ name: 'näme.bin', isVerified: true },
	});
	t.is(server.patches.length, 0);
	const other = rewritten(upload, 2.5 * megabyte - 1);
	t.like(await openPage(server, storage).upload(other), { isVerified: true });
	t.deepEqual([...server.uploads.keys()], ['u1', 'u2']);
	t.true(server.bytes.equals(other.bytes));
});

test('an upload is resumed as verified after a chunk whose answer was lost, and after one of another size', async (t) => {
	const server = new FakeServer();
	const upload = uploadOf(5 * megabyte);
	const first = await closedAfter(server, 2, upload, false);
	const second = openPage(server, first);
	second.dependencies.chunks.size = 0.75 * megabyte;
	const tab = new AbortController();
	const { send } = second.dependencies;
	second.dependencies.send = async (request) => {
		tab.signal.throwIfAborted();
		if (server.patches.length === 2) tab.abort();
		return send(request);
	};
	await second.upload({ ...upload }, tab.signal).catch(() => undefined);
	t.is(server.bytes.length, 4.25 * megabyte);
	const third = openPage(server, first);
	t.like(await third.upload({ ...upload }), { isVerified: true });
	t.true(server.bytes.equals(upload.bytes));
	t.is(server.uploads.size, 1);
});

test('an upload of which the server has lost the end goes on before it', async (t) => {
	const server = new FakeServer();
	const upload = uploadOf(3.5 * megabyte);
	const storage = await closedAfter(server, 3, upload);
	const kept = server.uploads.get('u1');
	if (kept) kept.bytes = kept.bytes.subarray(0, 1.5 * megabyte);
	t.like(await openPage(server, storage).upload(upload), { isVerified: true });
	t.is(server.patches[0]?.offset, 1.5 * megabyte);
	t.true(server.bytes.equals(upload.bytes));
});

test('an upload of which it is not known what was sent goes on, and is not said to be verified', async (t) => {
	const server = new FakeServer();
	const upload = uploadOf(3 * megabyte);
	// As an older page has kept it.
	const storage = await closedAfter(server, 2, upload);
	for (const [key, text] of Object.entries(storage)) {
		const { id, at } = JSON.parse(String(text));
		storage.setItem(key, JSON.stringify({ id, at }));
	}
	const page = openPage(server, storage);
	t.deepEqual(await page.upload(upload), { name: 'näme.bin', isVerified: false });
	t.deepEqual(page.waits, []);

	// Another page has sent more of it.
	const others = new FakeServer();
	const stale = Object.assign(new FakeStorage(), await closedAfter(others, 1, upload));
	const known = others.uploads.get('u1');
	if (known) known.bytes = upload.bytes.subarray(0, 2.5 * megabyte);
	t.deepEqual(await openPage(others, stale).upload(upload), { name: 'näme.bin', isVerified: false });
	t.true(others.bytes.equals(upload.bytes));
});

test('a page that tries an upload again reads nothing anew of what it has sent itself', async (t) => {
	const server = new FakeServer();
	const page = openPage(server);
	const upload = uploadOf(3 * megabyte);
	server.faults.push(undefined, undefined, undefined, { status: 400 });
	await t.throwsAsync(page.upload(upload));
	t.like(await page.upload(upload), { isVerified: true });
	t.deepEqual(page.waits, []);
	t.deepEqual(
		server.patches.map(({ offset }) => offset),
		[0, megabyte, 2 * megabyte, 2 * megabyte],
	);
});

test('a file that can’t be read any more is reported while it is compared, and an abort ends that', async (t) => {
	const server = new FakeServer();
	const upload = uploadOf(3 * megabyte);
	const storage = await closedAfter(server, 2, upload);
	const page = openPage(server, storage);
	page.dependencies.hash = async () => {
		throw new UnreadableFile('gone');
	};
	await fails(t, page.upload(upload), new UnreadableFile('').message);
	const tab = new AbortController();
	const other = openPage(server, storage);
	const { hash } = other.dependencies;
	other.dependencies.hash = (blob) => {
		tab.abort();
		return hash(blob);
	};
	await t.throwsAsync(other.upload(upload, tab.signal), { any: true, name: 'AbortError' });
	t.deepEqual(
		server.requests.map(({ method }) => method),
		['HEAD', 'HEAD'],
	);
});

test('what was sent is kept in few characters, however many pieces it has, and cut off anywhere', async (t) => {
	const hash = async (blob: Blob) => digestOf(new Uint8Array(await blob.arrayBuffer()));
	let sent = nothingSent;
	for (let n = 0; n < 100; n++) sent = await withPiece(sent, { size: n < 60 ? 8 : 4, digest: `${n}` }, hash);
	t.deepEqual(sent.sizes, [
		[8, 60],
		[4, 40],
	]);
	t.is(sizeOf(sent), 640);
	t.deepEqual(sizesBefore(sent.sizes, 640), sent.sizes);
	t.deepEqual(sizesBefore(sent.sizes, 0), []);
	t.deepEqual(sizesBefore(sent.sizes, 20), [
		[8, 2],
		[4, 1],
	]);
	t.deepEqual(sizesBefore(sent.sizes, 485), [
		[8, 60],
		[4, 1],
		[1, 1],
	]);
	for (let end = 0; end <= 640; end++) t.is(sizeOf({ sizes: sizesBefore(sent.sizes, end) }), end);
});

test('an upload is not resumed by another user, file, area or folder', (t) => {
	const records = createUploadRecords(new FakeStorage() as unknown as Storage);
	const upload = uploadOf(10);
	records.save(upload, { id: 'u1' });
	t.like(records.find({ ...upload, file: new File([upload.bytes], 'other', { lastModified: 1234 }) }), {
		id: 'u1',
		isOfFile: false,
	});
	t.like(records.find(upload), { id: 'u1', isOfFile: true });
	const others: Partial<Upload>[] = [
		{ username: 'bob' },
		{ username: undefined },
		{ area: 'public' },
		{ area: 'shared' },
		{ directory: rootPath },
		{ fileName: 'other' },
		{ file: new File([upload.bytes], 'näme.bin', { lastModified: 5678 }) },
		{ file: new File(['x'], 'näme.bin', { lastModified: 1234 }) },
	];
	for (const changes of others) t.is(records.find({ ...upload, ...changes }), undefined);
	records.remove(upload);
	t.is(records.find(upload), undefined);
});

test('without a storage or with invalid data in it an upload begins anew', (t) => {
	const none = createUploadRecords(undefined);
	none.save(uploadOf(10), { id: 'u1' });
	t.is(none.find(uploadOf(10)), undefined);
	const storage = new FakeStorage();
	const records = createUploadRecords(storage as unknown as Storage);
	records.save(uploadOf(10), { id: 'u1' });
	for (const key of Object.keys(storage)) storage.setItem(key, '{"id":');
	t.is(records.find(uploadOf(10)), undefined);
});

test('an upload that the server no longer has begins anew', async (t) => {
	const server = new FakeServer();
	const page = openPage(server);
	server.faults.push(undefined, undefined, refusal(410, 'EXPIRED'));
	const upload = uploadOf(2 * megabyte);
	await page.upload(upload);
	t.is(server.uploads.size, 2);
	t.true(server.bytes.equals(upload.bytes));
});

test('a file that is gone when it is sent again is uploaded anew, also by a page that has kept nothing', async (t) => {
	for (const storage of [new FakeStorage(), undefined]) {
		const server = new FakeServer();
		const page = openPage(server);
		page.dependencies.records = createUploadRecords(storage as Storage | undefined);
		const upload = uploadOf(megabyte);
		const { send } = page.dependencies;
		page.dependencies.send = async (request) => {
			const answer = await send(request);
			if (request.method === 'PATCH') throw new UploadNetworkFailure();
			if (request.method === 'HEAD') throw new UploadNetworkFailure();
			return answer;
		};
		await fails(t, page.upload(upload), 'Network error during upload');
		t.true(server.bytes.equals(upload.bytes));

		let expired = 0;
		page.dependencies.send = async (request) => {
			const isOld = request.url.endsWith('/u1') || request.headers['stowage-upload-key'] === upload.key;
			if (!isOld) return send(request);
			expired++;
			return answerOf(refusal(410, 'EXPIRED'));
		};
		t.like(await page.upload(upload), { isVerified: true });
		t.is(expired, 1);
		t.is(server.uploads.size, 2);
		t.true(server.bytes.equals(upload.bytes));
	}
});

test('an upload to a share that has ended fails with its sentence, whatever was begun', async (t) => {
	const server = new FakeServer();
	const page = openPage(server);
	page.dependencies.send = async () => answerOf(refusal(410, 'EXPIRED', 'This share has ended.'));
	const upload = uploadOf(megabyte);
	page.dependencies.records.save(upload, { id: 'u1' });
	await fails(t, page.upload(upload), 'This share has ended.');
	page.dependencies.records.remove(upload);
	await fails(t, page.upload(upload), 'This share has ended.');
});

test('what is sent to a share says who sends it, and is not resumed under another name', async (t) => {
	const server = new FakeServer();
	const page = openPage(server);
	page.dependencies.receiver = shareReceiver({ token: 'token', onPublished() {} });
	page.dependencies.records = createUploadRecords(page.storage as unknown as Storage, ({ sender = '' }) => [sender]);
	const upload = uploadOf(megabyte, { sender: 'Graec' });
	server.faults.push(undefined, { status: 400 });
	await t.throwsAsync(page.upload(upload));
	await page.upload({ ...upload, sender: 'Grace', key: newIdempotencyKey() });
	const senders = [...server.uploads.values()].map(({ metadata }) => / ?sender (\S+)$/.exec(metadata)?.[1] ?? '');
	t.deepEqual(
		senders.map((sender) => Buffer.from(sender, 'base64').toString()),
		['Graec', 'Grace'],
	);
	await terminateUpload(page.dependencies, upload);
	t.deepEqual([...server.uploads.keys()], ['u2']);
});

test('an upload whose key the server has for another one gets a key of its own', async (t) => {
	const server = new FakeServer();
	const page = openPage(server);
	server.faults.push(refusal(409, 'CONFLICT'));
	t.like(await page.upload(uploadOf(megabyte)), { isVerified: true });
	t.is(server.requests.filter(({ method }) => method === 'POST').length, 2);
});

test('a missing folder fails the file at once', async (t) => {
	const server = new FakeServer();
	server.faults.push(refusal(404, 'NOT_FOUND', 'No such file or folder: docs'));
	await fails(t, openPage(server).upload(uploadOf(megabyte)), 'No such file or folder: docs');
	t.is(server.requests.length, 1);
});

test('an upload waits while another connection writes it', async (t) => {
	const server = new FakeServer();
	const page = openPage(server);
	server.faults.push(undefined, refusal(423, 'LOCKED'), refusal(423, 'LOCKED'));
	await page.upload(uploadOf(megabyte));
	t.true(page.waits.includes('server'));
});

test('a file counts as uploaded only when it is published', async (t) => {
	const server = new FakeServer();
	const page = openPage(server);
	server.commitFaults = 2;
	t.is((await page.upload(uploadOf(megabyte))).name, 'näme.bin');
	t.is(server.patches.length, 1);
	t.is(server.requests.filter(({ method }) => method === 'HEAD').length, 2);
});

test('a complete file whose name was taken is reported with the sentence of the server, also when it is tried again', async (t) => {
	const server = new FakeServer();
	const page = openPage(server);
	const { send } = page.dependencies;
	page.dependencies.send = async (request) => {
		const answer = await send(request);
		const isComplete = server.bytes.length === megabyte;
		if (!isComplete || request.method === 'POST') return answer;
		return answerOf(request.method === 'HEAD' ? { status: 409 } : refusal(409, 'ALREADY_EXISTS', 'The name is taken.'));
	};
	const upload = uploadOf(megabyte, { onConflict: 'fail' });
	for (const methods of [
		['POST', 'PATCH'],
		['HEAD', 'PATCH'],
	]) {
		server.requests.length = 0;
		const failure = await fails(t, page.upload(upload), 'The name is taken.');
		t.is(failure.kind, 'alreadyExists');
		t.deepEqual(
			server.requests.map(({ method }) => method),
			methods,
		);
	}
	page.dependencies.send = async (request) => (request.method === 'HEAD' ? answerOf({ status: 409 }) : send(request));
	t.like(await page.upload(upload), { name: 'näme.bin' });
});

test('a complete file that a share has no room for any more is reported with the sentence of the server, whose answer was lost', async (t) => {
	const server = new FakeServer();
	const page = openPage(server);
	const { send } = page.dependencies;
	page.dependencies.send = async (request) => {
		if (server.requests.length > 20) throw new Error('It asks without an end.');
		const answer = await send(request);
		if (server.bytes.length < megabyte || request.method === 'POST') return answer;
		return answerOf(request.method === 'HEAD' ? { status: 413 } : refusal(413, 'TOO_LARGE', 'There is no room.'));
	};
	server.faults.push(undefined, 'answer lost');
	await fails(t, page.upload(uploadOf(megabyte)), 'There is no room.');
	t.deepEqual(
		server.requests.map(({ method }) => method),
		['POST', 'PATCH', 'HEAD', 'PATCH'],
	);
	t.is(page.dependencies.chunks.size, megabyte, 'no proxy has refused it');
});

test('a file that is never published is reported as failed', async (t) => {
	const server = new FakeServer();
	server.commitFaults = 100;
	await fails(t, openPage(server).upload(uploadOf(megabyte)), 'Upload failed with status 503');
});

test('an upload whose session has ended waits for a sign-in and continues', async (t) => {
	const server = new FakeServer();
	const page = openPage(server);
	server.faults.push(undefined, undefined, refusal(401, 'NOT_SIGNED_IN'), { status: 401 });
	const upload = uploadOf(2 * megabyte);
	await page.upload(upload);
	t.is(page.signIns(), 2);
	t.true(server.bytes.equals(upload.bytes));
});

test('a public upload of a user whose session ended does not become a visitor’s', async (t) => {
	const page = openPage(new FakeServer());
	await page.upload(uploadOf(megabyte, { area: 'public' }));
	t.is(page.checks(), 1);
});

test('an upload goes on for its user after another one was signed in meanwhile, and nothing of it becomes that one’s', async (t) => {
	const server = new FakeServer();
	const page = openPage(server);
	const upload = uploadOf(2 * megabyte);
	server.onPatch = (offset) => offset === 0 && page.switchUser();
	await page.upload(upload);
	t.is(page.signIns(), 1);
	t.is(server.uploads.size, 1);
	t.deepEqual(server.ofOther, []);
	t.true(server.bytes.equals(upload.bytes));
	t.is(server.patches.filter(({ offset }) => offset === 0).length, 1);
});

test('no file is created, large or small, nor a folder, while another user is signed in', async (t) => {
	for (const size of [10, 2 * megabyte]) {
		const server = new FakeServer();
		const page = openPage(server);
		page.switchUser();
		await page.upload(uploadOf(size));
		t.is(page.checks(), 1);
		t.deepEqual(server.ofOther, []);
	}
	const made: string[] = [];
	const make = createEnsureFolder({
		timing: openPage(new FakeServer()).dependencies.timing,
		send: async ({ url }) => {
			made.push(url);
			return answerOf({ status: 200 });
		},
	});
	const waitForSignIn = async () => {
		t.deepEqual(made, []);
		return true;
	};
	const listener = { onProgress() {}, onOffset() {}, onWait() {}, waitForSignIn };
	const place = { area: 'private', base: rootPath, directory: parsePath('docs'), username: 'ada' } as const;
	await make(place, listener, new AbortController().signal);
	t.is(made.length, 1);
});

test('an upload fails if the server refuses its session each time', async (t) => {
	const server = new FakeServer();
	server.faults.push(...Array<Fault>(50).fill(refusal(401, 'NOT_SIGNED_IN', 'Sign in first.')));
	await fails(t, openPage(server).upload(uploadOf(10)), 'Sign in first.');
});

test('a file that has changed on the disk is reported', async (t) => {
	for (const size of [10, megabyte]) {
		const page = openPage(new FakeServer());
		page.dependencies.hash = async () => {
			throw new UnreadableFile('gone');
		};
		const message = 'The file has changed or can no longer be read. Add it again.';
		const failure = await fails(t, page.upload(uploadOf(size)), message);
		t.is(failure.kind, 'invalid');
	}
});

test('the next chunk is hashed while the one before is sent', async (t) => {
	const server = new FakeServer();
	const page = openPage(server);
	const { hash, send } = page.dependencies;
	let digested = 0;
	page.dependencies.hash = (piece) => {
		// The digests of the pieces are hashed as well.
		if (piece.size === megabyte) digested++;
		return hash(piece);
	};
	const seen: number[] = [];
	page.dependencies.send = async (request) => {
		if (request.method === 'PATCH') seen.push(digested);
		return send(request);
	};
	await page.upload(uploadOf(3 * megabyte));
	t.deepEqual(seen, [2, 3, 3]);
});

test('a discarded upload is deleted on the server, also if that is still busy or overloaded', async (t) => {
	const server = new FakeServer();
	const page = openPage(server);
	const upload = uploadOf(2 * megabyte);
	server.faults.push(undefined, undefined, ...Array<Fault>(4).fill(refusal(500, 'INTERNAL')));
	await t.throwsAsync(page.upload(upload));
	t.is(server.uploads.size, 1);
	server.faults.push({ status: 423 }, refusal(503, 'UNAVAILABLE'), { status: 429 });
	await terminateUpload(page.dependencies, upload);
	t.is(server.uploads.size, 0);
	t.deepEqual(Object.keys(page.storage), []);
});

test('folders are created from the top down, each once, and may exist', async (t) => {
	const made: string[] = [];
	const { dependencies } = openPage(new FakeServer());
	const faults: (Answer | undefined)[] = [undefined, refusal(409, 'ALREADY_EXISTS'), refusal(503, 'UNAVAILABLE')];
	const make = createEnsureFolder({
		timing: dependencies.timing,
		send: async ({ body }) => {
			const { directory, folderName, type } = JSON.parse(await (body as Blob).text());
			made.push(`${type}:${directory}/${folderName}`);
			return answerOf(faults.shift() ?? { status: 200 });
		},
	});
	const listener = { onProgress() {}, onOffset() {}, onWait() {}, waitForSignIn: async () => false };
	const { signal } = new AbortController();
	const base = parsePath('docs');
	const folders = ['docs', 'docs/a', 'docs/a/b/c', 'docs/a/b'];
	for (const directory of folders) {
		await make({ area: 'private', base, directory: parsePath(directory), username: 'ada' }, listener, signal);
	}
	t.deepEqual(made, ['private:docs/a', 'private:docs/a/b', 'private:docs/a/b/c', 'private:docs/a/b/c']);
});

test("a full disk is reported with the server's sentence and its status", async (t) => {
	const server = new FakeServer();
	server.faults.push(...Array<Fault>(4).fill(refusal(507, 'STORAGE_FULL', 'There is not enough free space.')));
	const error = await t.throwsAsync(openPage(server).upload(uploadOf(10)));
	t.deepEqual(describeFailure(error), {
		error: 'Upload failed with status 507',
		detail: 'There is not enough free space.',
	});
	t.deepEqual(describeFailure(new TypeError('x is not a function')), { error: 'Upload failed' });
});

test('an upload that waits for space, or for a limit, says so, and not that the server is not ready', async (t) => {
	for (const [status, code, reason] of [
		[507, 'STORAGE_FULL', 'space'],
		[429, 'RATE_LIMITED', 'limit'],
		[503, 'UNAVAILABLE', 'server'],
	] as const) {
		for (const size of [10, megabyte]) {
			const server = new FakeServer();
			const page = openPage(server);
			server.faults.push(refusal(status, code));
			await page.upload(uploadOf(size));
			t.deepEqual(page.waits, [reason, undefined], `${status}, ${size} bytes`);
		}
	}
});

test('a limit of uploads is reported with its sentence', async (t) => {
	const server = new FakeServer();
	const sentence = 'Too many uploads were begun from here and not finished.';
	server.faults.push(...Array<Fault>(4).fill(refusal(429, 'RATE_LIMITED', sentence)));
	const error = await t.throwsAsync(openPage(server).upload(uploadOf(10)));
	t.deepEqual(describeFailure(error), { error: 'Upload failed with status 429', detail: sentence });
});
