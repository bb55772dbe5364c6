import type { Request, UploadRecord } from '@stowage/plugin-api';
import { Failure, type Viewer } from '@stowage/rules';
import { sendContinue } from '../../http/requests/expectContinue.js';
import { parseChecksum } from '../checksum.js';
import { announcedBytes, assertAnnounced, assertChunkType, byteCount, hasBody, textHeader } from '../uploadHeaders.js';
import { withLockedUpload } from './lockStaged.js';
import { publishIfComplete } from './publishUpload.js';
import { receiveBody } from './receiveBody.js';
import { findUpload, payerOf, type UploadParts } from './UploadParts.js';

/** Receives the request's body as the next chunk. */
export async function writeUpload(
	parts: UploadParts,
	viewer: Viewer,
	idHash: string,
	request: Request,
): Promise<UploadRecord> {
	const { space, writers } = parts;
	const { req } = request.raw;
	if (hasBody(req)) assertChunkType(req);
	const offset = byteCount(req.headers, 'Upload-Offset');
	const checksum = parseChecksum(textHeader(req.headers, 'Upload-Checksum'));
	// Checked before the release is requested: a client without permission must not cause it.
	await findUpload(parts, viewer, idHash);
	return writers.runExclusively(idHash, req, (writer) =>
		withLockedUpload(parts, viewer, idHash, writer, async (found) => {
			const record = await publishIfComplete(parts, viewer, idHash, found);
			if (offset !== record.offset) throw new Failure('conflict', `The upload holds ${record.offset} bytes so far.`);
			assertAnnounced(req, record.length - offset);
			if (record.entryPath !== null) return record;
			await space.assertChunk(await payerOf(parts, viewer, record), announcedBytes(req));
			sendContinue(request);
			return receiveBody(parts, viewer, idHash, record, { request, writer, checksum });
		}),
	);
}
