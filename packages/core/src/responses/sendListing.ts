import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import type { ResponseToolkit } from '@hapi/hapi';
import type { Request } from '@stowage/plugin-api';
import type { Entry, Owner, Viewer } from '@stowage/rules';
import { endWhenStalled } from '../http/connections/endWhenStalled.js';
import { hasUnreadBody, leaveBodyUnread } from '../http/connections/unreadBody.js';
import { queueClient } from '../http/requests/proxy.js';
import type { FairQueue } from '../limits/FairQueue.js';
import type { Log } from '../log.js';
import { ClientGone, writeBody } from './writeBody.js';

/** A text up to this length is sent at once, with its length. */
const wholeLength = 32 * 1024;

/** Names are so repetitive that the fastest level already compresses them to a tenth. */
const gzipOptions = { level: 1, chunkSize: 64 * 1024 };

/**
 * The JSON of a listing, what is known of the folder and its rows, a chunk for each batch, which is empty where the batch is: a folder
 * of any size takes the memory of one batch. `folder` is read with the first row, `missing` at the end.
 */
export async function* listingText(
	folder: object,
	batches: AsyncIterable<Entry[]>,
	missing: readonly Owner[] = [],
	key: 'entries' | 'items' = 'entries',
): AsyncGenerator<string> {
	// Written with the first row, until which it may not be known whole.
	let before: string | undefined;
	const head = () => JSON.stringify({ ...folder, [key]: [] }).slice(0, -2);
	for await (const batch of batches) {
		if (batch.length === 0) {
			yield '';
			continue;
		}
		yield (before ?? head()) + JSON.stringify(batch).slice(1, -1);
		before = ',';
	}
	const end = missing.length === 0 ? ']}' : `],"missing":${JSON.stringify(missing)}}`;
	yield before === undefined ? `${head()}${end}` : end;
}

/**
 * Responds with chunks of JSON: a long listing is sent while it is read, so that the first rows arrive at once. Each chunk is read when
 * it is the caller's turn, not while one is sent, for which the client decides how long it takes. Throws before the first byte only; a
 * failure after it breaks the connection, so that a truncated listing is not taken for a whole one.
 */
export async function sendListing(
	{ listingQueue, log }: { listingQueue: FairQueue; log: Log },
	{ request, viewer, h }: { request: Request; viewer: Viewer; h: ResponseToolkit },
	parts: AsyncGenerator<string>,
) {
	const client = queueClient(viewer, request.client.address);
	const chunks = inTurns(parts, (read) => listingQueue.run(client, read));
	let begun = '';
	while (begun.length < wholeLength) {
		const { done, value } = await chunks.next();
		if (done) return h.response(begun).type('application/json');
		begun += value;
	}
	try {
		await sendChunks(request, begun, chunks, log);
	} finally {
		// A client that left before the first byte has no reader that would close the listing.
		await chunks.return(undefined);
	}
	return h.abandon;
}

async function sendChunks(request: Request, begun: string, chunks: AsyncGenerator<string>, log: Log): Promise<void> {
	const { req, res } = request.raw;
	endWhenStalled(res);
	if (hasUnreadBody(req)) leaveBodyUnread(req, res);
	const isZipped = mayZip(request);
	res.writeHead(200, {
		'content-type': 'application/json; charset=utf-8',
		'cache-control': 'private, no-store',
		'x-content-type-options': 'nosniff',
		vary: 'accept-encoding',
		...(isZipped ? { 'content-encoding': 'gzip' } : {}),
	});
	if (req.method === 'HEAD') {
		res.end();
		return;
	}
	try {
		// A pipeline into the response itself would add seven listeners to it, which together with those of this module exceeds Node's limit
		// for leak warnings.
		if (isZipped) {
			const gzip = createGzip(gzipOptions);
			gzip.write(begun);
			// What has begun is not kept until more of it is compressed.
			gzip.flush(constants.Z_SYNC_FLUSH);
			await pipeline(Readable.from(chunks, { objectMode: false }), gzip, (zipped) => writeBody(res, zipped));
		} else await writeBody(res, Readable.from(continued(begun, chunks), { objectMode: false }));
		res.end();
	} catch (error) {
		res.destroy();
		if (!res.closed && !isGone(error)) log.warn({ err: error }, 'sending a listing failed');
	}
}

async function* continued(begun: string, chunks: AsyncGenerator<string>): AsyncGenerator<string> {
	yield begun;
	yield* chunks;
}

async function* inTurns<T>(
	parts: AsyncGenerator<T>,
	atTurn: (read: () => Promise<IteratorResult<T>>) => Promise<IteratorResult<T>>,
): AsyncGenerator<T> {
	try {
		for (;;) {
			const { done, value } = await atTurn(() => parts.next());
			if (done) return;
			yield value;
		}
	} finally {
		await parts.return(undefined);
	}
}

/** Whether a listing is compressed. Not for a client on this machine, for which that takes longer than sending. */
function mayZip({ client, info, raw }: Request): boolean {
	const isHere = /^(127\.|::1$)/.test(client.address) && raw.req.headers['x-forwarded-for'] === undefined;
	return info.acceptEncoding === 'gzip' && !isHere;
}

/** The other end closed the connection. */
function isGone(error: unknown): boolean {
	if (error instanceof ClientGone) return true;
	return error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE';
}
