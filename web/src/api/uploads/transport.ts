import { browserStorage } from '../client/browserStorage.js';
import { createEnsureFolder } from './ensureFolder.js';
import { hashInWorker } from './hashInWorker.js';
import { browserTiming } from './RetryPolicy.js';
import { sendUpload } from './sendUpload.js';
import { isSmall, type Transport, type Upload } from './upload.js';
import { terminateUpload, type UploadDependencies, uploadChunks } from './uploadChunks.js';
import { isProxyLimit } from './uploadFailures.js';
import { uploadForm } from './uploadForm.js';
import { areaReceiver, type ShareUploads, shareReceiver } from './uploadReceiver.js';
import { createUploadRecords } from './uploadRecords.js';

const megabyte = 1024 * 1024;

const browserDependencies: UploadDependencies = {
	receiver: areaReceiver,
	send: sendUpload,
	hash: hashInWorker,
	records: createUploadRecords(browserStorage()),
	timing: browserTiming,
	chunks: { size: 8 * megabyte },
};

export const uploadFile: Transport = (upload, listener, signal) =>
	uploadBySize(browserDependencies, upload, listener, signal);

/** Small files go as one form. Larger ones go in chunks, which can be resumed and pass every proxy. */
export async function uploadBySize(
	dependencies: UploadDependencies,
	...[upload, listener, signal]: Parameters<Transport>
) {
	if (isSmall(upload.file)) {
		try {
			return await uploadForm(dependencies, upload, listener, signal);
		} catch (error) {
			if (!isProxyLimit(error)) throw error;
		}
	}
	return uploadChunks(dependencies, upload, listener, signal);
}

export const createFolderEnsurer = () => createEnsureFolder(browserDependencies);

export const discardUpload = (upload: Upload) => terminateUpload(browserDependencies, upload);

/** Uploads a file to a share, which takes chunks only. */
export const uploadToShare = (share: ShareUploads, ...args: Parameters<Transport>) =>
	uploadChunks(shareDependencies(share), ...args);

export const discardFromShare = (share: ShareUploads, upload: Upload) =>
	terminateUpload(shareDependencies(share), upload);

function shareDependencies(share: ShareUploads): UploadDependencies {
	return {
		...browserDependencies,
		receiver: shareReceiver(share),
		records: createUploadRecords(browserStorage(), ({ sender = '' }) => ['share', share.token, sender]),
	};
}
