import * as contract from '@stowage/contract';
import { type Call, route } from '@stowage/plugin-api';
import { encodePath } from '@stowage/rules';
import type { Services } from '../../services.js';
import { checksumAlgorithms } from '../../uploads/checksum.js';
import type { Upload } from '../../uploads/resumable/createUpload.js';
import { tusVersion } from '../../uploads/resumable/tusProtocol.js';

type TusCall = Pick<Call<typeof contract.writeUpload>, 'h'>;

/** Answers with how far an upload is, and where its file is once it is in its place. */
export function answerUpload({ h }: TusCall, status: number, upload: Upload) {
	const response = h
		.response()
		.code(status)
		.header('cache-control', 'private, no-store')
		.header('upload-offset', String(upload.offset))
		.header('upload-expires', new Date(upload.expiresAt).toUTCString());
	if (upload.entryPath !== null) response.header('stowage-entry-path', encodePath(upload.entryPath));
	return response;
}

/** Answers a HEAD with the offset of an upload, as TUS has it. */
export function answerInspected(call: TusCall, upload: Upload) {
	const response = answerUpload(call, 200, upload).header('upload-length', String(upload.length));
	return upload.metadata === '' ? response : response.header('upload-metadata', upload.metadata);
}

/** Answers with what the server can do. */
export function answerOptions({ h }: TusCall, { uploads: { maxFileSize } }: Pick<Services['config'], 'uploads'>) {
	const response = h
		.response()
		.code(204)
		.header('tus-resumable', tusVersion)
		.header('tus-version', tusVersion)
		.header('tus-extension', 'creation,creation-with-upload,termination,expiration,checksum')
		.header('tus-checksum-algorithm', checksumAlgorithms.join(','));
	return maxFileSize === 0 ? response : response.header('tus-max-size', String(maxFileSize));
}

/** Uploads that can be interrupted, by tus 1.0.0. */
export function resumableUploadRoutes({ config, inFlightUploads, resumableUploads }: Services) {
	return [
		route(contract.uploadOptions, (call) => answerOptions(call, config)),
		route(contract.uploadOptionsOfOne, (call) => answerOptions(call, config)),

		route(contract.createUpload, async (call) => {
			const upload = await inFlightUploads.run(() => resumableUploads.create(call.viewer, call.request));
			// Relative to the host, so that it is right behind any proxy.
			return answerUpload(call, 201, upload).header('location', `${config.basePath}/api/uploads/${upload.id}`);
		}),

		route(contract.inspectUpload, async (call) =>
			answerInspected(call, await resumableUploads.inspect(call.viewer, call.params.id ?? '', call.request)),
		),

		route(contract.writeUpload, async (call) =>
			answerUpload(
				call,
				204,
				await inFlightUploads.run(() => resumableUploads.write(call.viewer, call.params.id ?? '', call.request)),
			),
		),

		route(contract.removeUpload, async ({ viewer, params, h }) => {
			await resumableUploads.remove(viewer, params.id ?? '');
			return h.response().code(204);
		}),
	];
}
