import type { Request, UploadRecord } from '@stowage/plugin-api';
import type { Viewer } from '@stowage/rules';
import { assertInPlace } from './finishedUpload.js';
import { awaitOtherWriter, withLockedUpload } from './lockStaged.js';
import { publishIfComplete, withDurableOffset } from './publishUpload.js';
import { findUpload, type UploadParts } from './UploadParts.js';
import type { Writer } from './Writer.js';

/**
 * The offset of an upload. A complete one that is not published yet is published. Throws `expired` for a finished one whose file is gone.
 */
export async function inspectUpload(
	parts: UploadParts,
	viewer: Viewer,
	idHash: string,
	request: Request,
): Promise<UploadRecord> {
	const { writers } = parts;
	await findUpload(parts, viewer, idHash);
	await writers.endStaleWriter(idHash);
	if (writers.isBusy(idHash)) {
		const record = await findUpload(parts, viewer, idHash);
		await assertInPlace(parts, viewer, record);
		return record;
	}
	return writers.runExclusively(idHash, request.raw.req, (writer) => publishOrGetOffset(parts, viewer, idHash, writer));
}

/**
 * The record of an upload with the number of its durable bytes; one that is complete is published first. While another
 * process writes, which releases the upload if its connection is dead, it is waited for a while, so that what it has
 * received is among them.
 */
export async function publishOrGetOffset(
	parts: UploadParts,
	viewer: Viewer,
	idHash: string,
	writer: Writer,
): Promise<UploadRecord> {
	const known = await withDurableOffset(parts, viewer, await awaitOtherWriter(parts, viewer, idHash));
	if (known === undefined) {
		return withLockedUpload(parts, viewer, idHash, writer, (whole) => publishIfComplete(parts, viewer, idHash, whole));
	}
	return known;
}
