import type { IncomingMessage } from 'node:http';
import type { JsonBodies, Request } from '@stowage/plugin-api';
import { Failure, type Viewer } from '@stowage/rules';
import { isVisitorKey, limitAddress, queueClient } from '../http/requests/proxy.js';
import { trimBlanks } from '../http/requests/trimBlanks.js';
import { Budget } from '../limits/Budget.js';
import { arrivingBody, type BodyTimeouts } from './arrivingBody.js';
import { JsonShape } from './JsonShape.js';

const kB = 1024;
const MB = 1024 * kB;

/** A file may take days. A modem is four times as fast as this minimum. */
const uploadTimeouts: BodyTimeouts = {
	idleSeconds: 30,
	floorBytes: 64 * kB,
	floorSeconds: 60,
	maxSeconds: Number.POSITIVE_INFINITY,
	tooSlow: 'The upload stalled.',
	cutOff: 'The upload was cut off.',
};

/** JSON is buffered in memory while it arrives. */
const jsonTimeouts: BodyTimeouts = {
	idleSeconds: 10,
	floorBytes: 64 * kB,
	floorSeconds: 10,
	maxSeconds: 5 * 60,
	tooSlow: 'The request took too long to arrive.',
	cutOff: 'The request ended early.',
};

/**
 * Bodies up to this size have a budget of their own, so that large ones don't keep users from signing in. A visitor can't send a larger
 * one.
 */
const smallBytes = 256 * kB;

/**
 * So many bytes of a body take nothing from a budget, or some dozens of addresses that announce bodies and send none
 * would keep everybody from signing in. There are at most 10,000 connections.
 */
const freeBytes = 4 * kB;

/** The step in which the budget of a body of unknown length grows. */
const stepBytes = 16 * kB;

/** Chunks up to this size are joined. */
const blockBytes = 64 * kB;

/** How the bodies of requests are read: in a bounded time, and JSON in a bounded memory. */
export interface Bodies extends JsonBodies {
	/** The body of an upload of the viewer as it arrives, of any size. Fails as `arrivingBody` does. */
	upload(request: Request, viewer: Viewer): AsyncGenerator<Buffer, void>;
}

interface Options {
	/** How long a second of waiting for a body takes, in milliseconds. */
	secondMs?: number | undefined;
	/** Calls `onEnd` soon after the session of a request has ended, until the returned function is called. A visitor has none. */
	onSessionEnd(request: Request, onEnd: () => void): () => void;
	/** Calls `onEnd` soon after visitors may upload no more, until the returned function is called. */
	onVisitorsEnd(onEnd: () => void): () => void;
}

export function createBodies({ secondMs = 1000, onSessionEnd, onVisitorsEnd }: Options): Bodies {
	const busy = 'Too many large requests are under way. Please try again in a moment.';
	// Visitors, however many addresses they have, leave half of it to accounts.
	const group = { total: 32 * MB, includes: isVisitorKey };
	const reservedPerSite = smallBytes;
	const small = new Budget({ total: 64 * MB, perClient: 2 * MB, group, reservedPerSite }, busy);
	const newLarge = () => new Budget({ total: 48 * MB, perClient: 16 * MB, reservedPerSite }, busy);
	const large = { ofAddress: newLarge(), ofClient: newLarge() };
	const held = new WeakMap<Request, () => void>();

	/**
	 * Breaks off what arrives once its sender's session ends, or a visitor may not `upload` it any more: otherwise whoever had begun calls
	 * could have them carried out hours later, and fill the disk until then.
	 */
	async function* arriving(request: Request, timeouts: BodyTimeouts, uploader?: Viewer): AsyncGenerator<Buffer, void> {
		const { req } = request.raw;
		const end = (message: string) => req.destroy(new Failure('notSignedIn', message));
		const leaves = [onSessionEnd(request, () => end('Your session has ended.'))];
		// What guests of a share send is its owner's.
		if (uploader?.kind === 'anonymous')
			leaves.push(onVisitorsEnd(() => end('Visitors may not upload files any more.')));
		try {
			yield* arrivingBody(req, timeouts, secondMs);
		} finally {
			for (const leave of leaves) leave();
		}
	}

	const bodies: Bodies = {
		upload: (request, viewer) => arriving(request, uploadTimeouts, viewer),

		async readJson(request, maxBytes) {
			const { req } = request.raw;
			assertJson(req);
			const tooLarge = () => new Failure('tooLarge', `The request is larger than ${maxBytes} bytes.`);
			const announced = Number(req.headers['content-length'] ?? 0);
			if (announced > maxBytes) throw tooLarge();
			const { address } = request.client;
			const from = queueClient(request.viewer, address);
			const parts: (() => void)[] = [];
			let taken = freeBytes;
			const take = (bytes: number) => {
				if (maxBytes > smallBytes) {
					// One address may have many accounts, and one account many addresses.
					parts.push(large.ofAddress.reserve(limitAddress(address), bytes));
					parts.push(large.ofClient.reserve(from.client, bytes));
				} else parts.push(small.reserve(from, bytes));
				taken += bytes;
			};
			held.set(request, () => {
				for (const release of parts) release();
			});
			// An announced length is taken at once, so that a body which was begun is not refused halfway.
			if (announced > taken) take(announced - taken);
			const shape = new JsonShape();
			const chunks: Buffer[] = [];
			let size = 0;
			for await (const chunk of arriving(request, jsonTimeouts)) {
				size += chunk.length;
				if (size > maxBytes) throw tooLarge();
				if (size > taken) take(Math.max(size - taken, stepBytes));
				shape.add(chunk);
				append(chunks, chunk);
			}
			return parsed(chunks);
		},

		release(request) {
			held.get(request)?.();
			held.delete(request);
		},
	};
	return bodies;
}

/**
 * Appends a chunk, which may be a single byte: kept by itself, it would take hundreds of them. Only what is no longer than the rest is
 * joined, so that each byte is copied a few times at most.
 */
function append(chunks: Buffer[], chunk: Buffer): void {
	let block = chunk;
	for (let last = chunks.at(-1); last !== undefined; last = chunks.at(-1)) {
		if (last.length > block.length || last.length + block.length > blockBytes) break;
		chunks.pop();
		block = Buffer.concat([last, block]);
	}
	chunks.push(block);
}

function assertJson({ headers }: IncomingMessage): void {
	const type = trimBlanks((headers['content-type'] ?? '').split(';')[0] ?? '').toLowerCase();
	if (type !== 'application/json') {
		throw new Failure('unsupportedMediaType', 'Send the request as application/json.');
	}
}

function parsed(chunks: Buffer[]): unknown {
	try {
		return JSON.parse(decoded(chunks));
	} catch (cause) {
		if (cause instanceof Failure) throw cause;
		throw new Failure('invalid', 'The request is not valid JSON.', { cause });
	}
}

function decoded(chunks: Buffer[]): string {
	try {
		return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
	} catch (cause) {
		throw new Failure('invalid', 'The request is not valid UTF-8.', { cause });
	} finally {
		// The text takes as much again.
		chunks.length = 0;
	}
}
