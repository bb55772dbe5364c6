import type { ConflictOptions, Files, ItemRef, StorageItem } from '@stowage/plugin-api';
import type { Viewer } from '@stowage/rules';
import { type AuditAction, type AuditEvent, chosen } from '../../audit/auditLine.js';
import { outcomeOf } from '../../audit/createAudit.js';
import { currentContext } from '../../context.js';
import type { MemberAudit } from '../../members/memberAudit.js';

/** Wraps the service: each change of a tree is written to the audit log once. */
export function auditedFiles(files: Files, audit: MemberAudit): Files {
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

		move(viewer, item, toPath, options) {
			const replacement = noted(options);
			return audit.recorded(
				{ ...event('move', viewer, item), to: toPath },
				() => files.move(viewer, item, toPath, { ...options, onReplaced: replacement.onReplaced }),
				({ path }) => (path === item.path ? undefined : { to: path, ...replacement.details() }),
			);
		},

		copy(viewer, item, to, options) {
			const replacement = noted(options);
			return audit.recorded(
				{ ...event('copy', viewer, item), to: to.path, ...(to.area === item.area ? {} : { toArea: to.area }) },
				() => files.copy(viewer, item, to, { ...options, onReplaced: replacement.onReplaced }),
				({ path, type, size }) => ({
					to: path,
					...(type === 'file' ? { bytes: size } : {}),
					...replacement.details(),
				}),
			);
		},

		remove: (viewer, item, options) =>
			audit.recorded(
				event('delete', viewer, item),
				() => files.remove(viewer, item, options),
				({ trashId }) => (trashId === undefined ? {} : { trash: trashId }),
			),

		async assertUpload(viewer, folder, file) {
			try {
				await files.assertUpload(viewer, folder, file);
			} catch (error) {
				const place = file === undefined ? folder : { ...folder, path: below(folder, file.name) };
				await audit.record(event(published(), viewer, place), outcomeOf(error));
				throw error;
			}
		},

		async publish(viewer, folder, requests, options) {
			if (requests.length === 0) return files.publish(viewer, folder, requests, options);
			const replacements = requests.map((request) => noted(request));
			const watched = requests.map((request, n) => ({ ...request, onReplaced: replacements[n]?.onReplaced }));
			try {
				const entries = await files.publish(viewer, folder, watched, options);
				for (const [n, { path, size }] of entries.entries()) {
					const details = { path, bytes: size, ...replacements[n]?.details() };
					await audit.record({ ...event(published(), viewer, folder), ...details }, { outcome: 'ok' });
				}
				return entries;
			} catch (error) {
				const asked = requests.map(({ name }) => ({ path: below(folder, name) }));
				await audit.record({ ...event(published(), viewer, folder), ...chosen(asked) }, outcomeOf(error));
				throw error;
			}
		},

		publishOnce(viewer, folder, request) {
			const replacement = noted(request);
			return audit.recorded(
				event(published(), viewer, { ...folder, path: below(folder, request.name) }),
				() => files.publishOnce(viewer, folder, { ...request, onReplaced: replacement.onReplaced }),
				({ path, size }) => ({ path, bytes: size, ...replacement.details() }),
			);
		},
	};
	return audited;
}

/** Notes whether a file is replaced. */
function noted({ onReplaced }: ConflictOptions = {}): {
	onReplaced(replaced: StorageItem): void;
	details(): { replaced?: true };
} {
	let isReplaced = false;
	return {
		onReplaced(replaced) {
			isReplaced = true;
			onReplaced?.(replaced);
		},
		details: () => (isReplaced ? { replaced: true } : {}),
	};
}

/** The path of a child as it was requested, valid or not. */
function below({ path }: ItemRef, name: string): string {
	return path === '' ? name : `${path}/${name}`;
}

type Named = Pick<ItemRef, 'area' | 'owner'> & { path: string };

function event(action: AuditAction, viewer: Viewer, { area, path, owner }: Named): AuditEvent {
	return { action, viewer, area, path, ...(owner === undefined ? {} : { owner }) };
}
