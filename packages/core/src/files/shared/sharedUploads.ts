import type { Files, ItemRef } from '@stowage/plugin-api';
import type { Viewer } from '@stowage/rules';
import { type Entered, enterFolder } from '../../members/enterFolder.js';
import { payerOfFolder } from '../../members/payer.js';
import type { SharedFolders } from '../../members/SharedFolders.js';

type Uploads = Pick<Files, 'stage' | 'withDescriptor' | 'assertUpload' | 'publish' | 'publishOnce' | 'findPublished'>;

interface Dependencies {
	folders: SharedFolders;
	log: { warn(details: object, message: string): void };
}

/** What becomes a file once all of it has been received. */
export function sharedUploads(files: Uploads, { folders, log }: Dependencies): Uploads {
	const payerOf = async (viewer: Viewer, folder: ItemRef | undefined) =>
		folder === undefined ? viewer : payerOfFolder(folders, viewer, folder);
	return {
		stage: async (viewer, id, folder) => files.stage(await payerOf(viewer, folder), id),

		withDescriptor: async (viewer, target, use) =>
			files.withDescriptor(await payerOf(viewer, target.folder), target, use),

		async assertUpload(viewer, folder, file) {
			if (folder.area !== 'shared') return files.assertUpload(viewer, folder, file);
			const { viewer: owner, ref } = await enterFolder(folders, viewer, folder, 'edit');
			return files.assertUpload(owner, ref, file);
		},

		async publish(viewer, folder, requests, options) {
			if (folder.area !== 'shared') return files.publish(viewer, folder, requests, options);
			let within: Entered;
			try {
				within = await enterFolder(folders, viewer, folder, 'edit');
			} catch (error) {
				// As `publish` does with what it can't publish.
				for (const { staged } of requests)
					await staged.discard().catch((cause) => log.warn({ err: cause }, 'a refused upload could not be removed'));
				throw error;
			}
			return (await files.publish(within.viewer, within.ref, requests, options)).map(within.shown);
		},

		async publishOnce(viewer, folder, request) {
			if (folder.area !== 'shared') return files.publishOnce(viewer, folder, request);
			const { viewer: owner, ref, shown } = await enterFolder(folders, viewer, folder, 'edit');
			return shown(await files.publishOnce(owner, ref, request));
		},

		async findPublished(viewer, folder, stagedId, name) {
			if (folder.area !== 'shared') return files.findPublished(viewer, folder, stagedId, name);
			const { viewer: owner, ref, shown } = await enterFolder(folders, viewer, folder, 'edit');
			const entry = await files.findPublished(owner, ref, stagedId, name);
			return entry && shown(entry);
		},
	};
}
