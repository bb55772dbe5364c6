import { createHash, randomBytes } from 'node:crypto';
import type { Request, UploadRecord } from '@stowage/plugin-api';
import { Failure, isFailure, type Viewer } from '@stowage/rules';
import { sendContinue } from '../../http/requests/expectContinue.js';
import { secretHash } from '../../secretHash.js';
import { parseChecksum } from '../checksum.js';
import { announcedBytes, assertChunkType, byteCount, textHeader, uploadKeyOf } from '../uploadHeaders.js';
import { beginUpload } from './beginUpload.js';
import { inspectUpload, publishOrGetOffset } from './inspectUpload.js';
import { withLockedUpload } from './lockStaged.js';
import { receiveBody } from './receiveBody.js';
import { discardUpload } from './removeUpload.js';
import { receivingOf, type UploadParts } from './UploadParts.js';
import type { Writer } from './Writer.js';

/** An upload as its client may know it. */
export interface Upload extends UploadRecord {
	/** 256 random bits. */
	id: string;
}

/**
 * Begins an upload, with its first bytes if the request has some. A repeated request, whose response was lost, gets
 * the upload of the first attempt. Throws `conflict` for another file or place with the same key.
 */
export async function createUpload(parts: UploadParts, viewer: Viewer, request: Request): Promise<Upload> {
	const { database, writers } = parts;
	const { req } = request.raw;
	const checksum = parseChecksum(textHeader(req.headers, 'Upload-Checksum'));
	const hasBytes = req.headers['transfer-encoding'] !== undefined || announcedBytes(req) > 0;
	if (hasBytes) assertChunkType(req);
	const key = uploadKeyOf(req.headers);
	const id = key === undefined ? randomBytes(32).toString('base64url') : idOfKey(viewer, key);
	const idHash = secretHash(id);
	const isKnown = async () => {
		const known = key === undefined ? undefined : await database.uploads.find(idHash);
		if (known !== undefined) assertSame(known, request);
		return known !== undefined;
	};
	if (await isKnown()) return { ...(await inspectUpload(parts, viewer, idHash, request)), id };

	const create = async (writer: Writer): Promise<UploadRecord> => {
		// Another attempt with this key may have been faster.
		if (await isKnown()) return publishOrGetOffset(parts, viewer, idHash, writer);
		let begun: UploadRecord;
		try {
			begun = await beginUpload({ ...parts, uploads: database.uploads }, viewer, idHash, request);
		} catch (error) {
			// In another process.
			if (isFailure(error, 'alreadyExists') && (await isKnown()))
				return publishOrGetOffset(parts, viewer, idHash, writer);
			throw error;
		}
		if (!hasBytes && begun.length > 0) return begun;
		try {
			sendContinue(request);
			return await withLockedUpload(parts, viewer, idHash, writer, (record) =>
				receiveBody(parts, viewer, idHash, record, { request, writer, checksum }),
			);
		} catch (error) {
			// Without a key no client can ever find it again. Bytes of it have come, so it stays a file of its hour.
			if (key === undefined) await tryDiscard(parts, viewer, idHash, { ...begun, startedAt: null });
			throw error;
		}
	};
	return { ...(await writers.runExclusively(idHash, req, create)), id };
}

/** What came by the key of another upload would get its name and place, and an answer that it is there. */
function assertSame({ metadata, length }: UploadRecord, { raw: { req } }: Request): void {
	const isSame = metadata === (textHeader(req.headers, 'Upload-Metadata') ?? '');
	if (!isSame || length !== byteCount(req.headers, 'Upload-Length'))
		throw new Failure('conflict', 'Stowage-Upload-Key: was used for another upload');
}

/** A staged file that can't be removed now expires. */
async function tryDiscard(parts: UploadParts, viewer: Viewer, idHash: string, record: UploadRecord): Promise<void> {
	await discardUpload(parts, viewer, idHash, record).catch((error) =>
		parts.log.warn({ err: error }, 'a failed upload could not be removed'),
	);
}

/** The id of the upload with an idempotency key: equal for every attempt, and different for all other clients. */
function idOfKey(viewer: Viewer, key: string): string {
	const share = receivingOf(viewer)?.share;
	const who = viewer.kind === 'user' ? (share === undefined ? viewer.id : `of ${share}`) : '';
	return createHash('sha256').update(`upload ${who} ${key}`).digest('base64url');
}
