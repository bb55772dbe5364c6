import type { Files, ItemRef } from '@stowage/plugin-api';
import type { Viewer } from '@stowage/rules';
import { type AuditAction, type AuditEvent, chosen } from '../audit/auditLine.js';
import { type Audit, outcomeOf } from '../audit/createAudit.js';
import { currentContext } from '../context.js';

/** The same service, with each change of a tree recorded once, where it is made. */
export function auditedFiles(files: Files, audit: Audit): Files {
	const published = (): AuditAction => (currentContext()?.job?.kind === 'convert' ? 'convert' : 'upload');
	const audited: Files = {
		...files,

		createFile: (viewer, folder, name) =>
			audit.recorded(
				event('createFile', viewer, { ...folder, path: below(folder, name) }),
				() => files.createFile(viewer, folder, name),
				({ path }) => ({ path }),
			),

		createFolder: (viewer, folder, name) =>
			audit.recorded(
				event('createFolder', viewer, { ...folder, path: below(folder, name) }),
				() => files.createFolder(viewer, folder, name),
				({ path }) => ({ path }),
			),

		rename: (viewer, item, newName) =>
			audit.recorded(
				event('rename', viewer, item),
				() => files.rename(viewer, item, newName),
				({ path }) => (path === item.path ? undefined : { to: path }),
			),

		move: (viewer, item, toPath) =>
			audit.recorded(
				{ ...event('move', viewer, item), to: toPath },
				() => files.move(viewer, item, toPath),
				({ path }) => (path === item.path ? undefined : { to: path }),
			),

		copy: (viewer, item, to, options) =>
			audit.recorded(
				{ ...event('copy', viewer, item), to: to.path, ...(to.area === item.area ? {} : { toArea: to.area }) },
				() => files.copy(viewer, item, to, options),
				({ path, type, size }) => ({ to: path, ...(type === 'file' ? { bytes: size } : {}) }),
			),

		remove: (viewer, item, options) =>
			audit.recorded(
				event('delete', viewer, item),
				() => files.remove(viewer, item, options),
				({ trashId }) => (trashId === undefined ? {} : { trash: trashId }),
			),

		async assertUpload(viewer, folder) {
			try {
				await files.assertUpload(viewer, folder);
			} catch (error) {
				audit.record(event(published(), viewer, folder), outcomeOf(error));
				throw error;
			}
		},

		async publish(viewer, folder, requests, options) {
			if (requests.length === 0) return files.publish(viewer, folder, requests, options);
			try {
				const entries = await files.publish(viewer, folder, requests, options);
				for (const { path, size } of entries)
					audit.record({ ...event(published(), viewer, folder), path, bytes: size }, { outcome: 'ok' });
				return entries;
			} catch (error) {
				const asked = requests.map(({ name }) => ({ path: below(folder, name) }));
				audit.record({ ...event(published(), viewer, folder), ...chosen(asked) }, outcomeOf(error));
				throw error;
			}
		},

		publishOnce: (viewer, folder, request) =>
			audit.recorded(
				event(published(), viewer, { ...folder, path: below(folder, request.name) }),
				() => files.publishOnce(viewer, folder, request),
				({ path, size }) => ({ path, bytes: size }),
			),
	};
	return audited;
}

/** As requested, valid or not. */
function below({ path }: ItemRef, name: string): string {
	return path === '' ? name : `${path}/${name}`;
}

type Named = Pick<ItemRef, 'area' | 'owner'> & { path: string };

function event(action: AuditAction, viewer: Viewer, { area, path, owner }: Named): AuditEvent {
	return { action, viewer, area, path, ...(owner === undefined ? {} : { owner }) };
}
