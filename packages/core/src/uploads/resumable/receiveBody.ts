import type { Request, StagedFile, UploadRecord } from '@stowage/plugin-api';
import type { Viewer } from '@stowage/rules';
import { holdWhileReceived } from '../../members/payer.js';
import type { Checksum } from '../checksum.js';
import { announcedBytes } from '../uploadHeaders.js';
import { publishUpload } from './publishUpload.js';
import { receiveChunk } from './receiveChunk.js';
import { payerOf, stagedOf, targetOf, type UploadParts } from './UploadParts.js';
import { inUse, type Writer } from './Writer.js';

interface Sent {
	request: Request;
	writer: Writer;
	checksum: Checksum | undefined;
}

/** Receives the body of a request as the next chunk of an upload. The last one publishes the file. */
export async function receiveBody(
	parts: UploadParts,
	viewer: Viewer,
	idHash: string,
	record: UploadRecord,
	{ request, writer, checksum }: Sent,
): Promise<UploadRecord> {
	const { admission, bodies, database, expiry, log, now } = parts;
	const uploader = { viewer: await payerOf(parts, viewer, record), address: request.client.address };
	const staged = await stagedOf(parts, viewer, record);
	if (record.received !== null) await database.uploads.claim(idHash, now());
	const folder = await targetOf(parts, viewer, record);
	const leave = await holdWhileReceived(parts.sharedFolders, viewer, folder, (reason) =>
		request.raw.req.destroy(reason),
	);
	const receiving = admission.chunk(uploader, staged, record, async (chunk) => {
		const save = async (arrived: number) => {
			const saved = await saveOffset(parts, idHash, record, staged, arrived);
			chunk.recorded(arrived);
			return saved;
		};
		const size = await receiveChunk(chunk.staged, bodies.upload(request, viewer), {
			offset: record.offset,
			limit: record.length - record.offset,
			checksum,
			assertRoom: () => chunk.assertRoom(announcedBytes(request.raw.req)),
			onBytes: () => writer.onBytes(),
			saveOffset: save,
			log,
		});
		// Before its bytes are reserved no more: others count what is recorded.
		if (size < record.length) return { size, saved: await save(size) };
		chunk.completed();
		return { size, saved: undefined };
	});
	const { size, saved } = await receiving.finally(leave);
	if (saved !== undefined) return saved;
	let recording: Promise<unknown> | undefined;
	const recordComplete = async () => {
		recording ??= saveOffset(parts, idHash, record, staged, size).catch((cause: unknown) =>
			log.warn({ err: cause }, 'the progress of a complete upload could not be saved'),
		);
		await recording;
	};
	try {
		const complete = { ...record, offset: size, ...expiry.touch(idHash) };
		return await publishUpload(parts, viewer, idHash, complete, recordComplete);
	} catch (error) {
		await recordComplete();
		throw error;
	}
}

/** Records the offset once the bytes before it would survive a power cut. */
async function saveOffset(
	{ database, expiry }: UploadParts,
	idHash: string,
	record: UploadRecord,
	staged: StagedFile,
	offset: number,
): Promise<UploadRecord> {
	await staged.sync();
	const progress = { offset, ...expiry.touch(idHash) };
	if (!(await database.uploads.saveProgress(idHash, record.stagedId ?? '', progress))) throw inUse();
	return { ...record, ...progress };
}
