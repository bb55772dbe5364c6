import { createShareUpload, createUpload } from '@stowage/contract';
import { endpointUrl } from '../client/client.js';
import type { Upload } from './upload.js';

/** The part of the server that receives uploads in chunks: the areas, or a share. */
export interface UploadReceiver {
	/** Where uploads are created. Each has its own address below. */
	readonly url: string;
	/** What it wants to know of a file, beside its name. */
	metadataOf: (upload: Upload) => Readonly<Record<string, string>>;
	/** The file of an upload is in its place. */
	onPublished: (id: string, upload: Upload, name: string) => void;
}

export const areaReceiver: UploadReceiver = {
	url: endpointUrl(createUpload),
	metadataOf: ({ file, directory, area, onConflict }) => ({
		directory,
		type: area,
		lastModified: String(file.lastModified),
		...(onConflict === 'rename' ? {} : { onConflict }),
	}),
	onPublished() {},
};

/** A share that receives files. */
export interface ShareUploads {
	token: string;
	onPublished: UploadReceiver['onPublished'];
}

/** Guests choose neither a folder nor what happens to a taken name. */
export function shareReceiver({ token, onPublished }: ShareUploads): UploadReceiver {
	return {
		url: endpointUrl(createShareUpload, { params: { token } }),
		metadataOf: ({ file, sender }) => ({
			lastModified: String(file.lastModified),
			...(sender === undefined ? {} : { sender }),
		}),
		onPublished,
	};
}
