import { hashInWorker } from './hashInWorker.js';
import { browserTiming } from './RetryPolicy.js';
import { sendUpload } from './sendUpload.js';
import { carryPieces, discardPieces, type PieceTools } from './uploadChunks.js';
import { isProxyLimit } from './uploadFailures.js';
import { newFolderMaker } from './uploadFolders.js';
import { carryForm } from './uploadForm.js';
import { browserStorage, storedRecords } from './uploadRecords.js';
import { isSmall, type Transport, type Upload } from './uploads.js';

const megabyte = 1024 * 1024;

const tools: PieceTools = {
	send: sendUpload,
	hash: hashInWorker,
	records: storedRecords(browserStorage()),
	timing: browserTiming,
	pieces: { size: 8 * megabyte },
};

/** Small files by one form, larger ones in pieces, which can be resumed and get through every proxy. */
export const carryUpload: Transport = (upload, listener, signal) => carryBySize(tools, upload, listener, signal);

export async function carryBySize(carryTools: PieceTools, ...[upload, listener, signal]: Parameters<Transport>) {
	if (isSmall(upload.file)) {
		try {
			return await carryForm(carryTools, upload, listener, signal);
		} catch (error) {
			if (!isProxyLimit(error)) throw error;
		}
	}
	return carryPieces(carryTools, upload, listener, signal);
}

export const folderMaker = () => newFolderMaker(tools);

export const discardUpload = (upload: Upload) => discardPieces(tools, upload);
