import type { JoinedFolder } from '@stowage/plugin-api';
import type { AuditEvent, AuditOutcome } from '../audit/auditLine.js';
import type { Audit } from '../audit/createAudit.js';
import type { ChangeKind, MemberChanges } from './MemberChanges.js';
import type { SharedFolders } from './SharedFolders.js';

/**
 * The audit log for what members do as well, whose lines name the owner of a shared folder; for that owner it is
 * counted, too. Nothing here throws, but for what the work throws.
 */
export interface MemberAudit extends Pick<Audit, 'recorded'> {
	record(event: AuditEvent, outcome: AuditOutcome): Promise<void>;
}

/** The shared folders that an event is about, if it is about any. */
interface Folders {
	from?: JoinedFolder | undefined;
	to?: JoinedFolder | undefined;
}

/** The folders are asked for before the work, after which one may have another name, or not be shared any more. */
export function memberAudit(
	audit: Pick<Audit, 'recorded' | 'record'>,
	folders: Pick<SharedFolders, 'folderOf'>,
	changes: Pick<MemberChanges, 'count'>,
): MemberAudit {
	const folderOf = async ({ viewer }: AuditEvent, path: string | undefined): Promise<JoinedFolder | undefined> => {
		if (viewer?.kind !== 'user' || path === undefined) return undefined;
		// The line is written without the name when the database is away.
		return folders.folderOf(viewer, path).catch(() => undefined);
	};
	const foldersOf = async (event: AuditEvent): Promise<Folders> => {
		const { area, path, paths, to, toArea = area } = event;
		return {
			from: area === 'shared' ? await folderOf(event, path ?? paths?.[0]) : undefined,
			to: toArea === 'shared' ? await folderOf(event, to) : undefined,
		};
	};
	const count = (event: AuditEvent, of: Folders): void => {
		if (event.viewer?.kind !== 'user') return;
		for (const [folder, kind] of changesOf(event, of)) changes.count(event.viewer, folder, kind);
	};
	return {
		async recorded(event, work, detailsOf = () => ({})) {
			const found = await foldersOf(event);
			return audit.recorded(named(event, found), work, (result) => {
				const details = detailsOf(result);
				if (details !== undefined) count({ ...event, ...details }, found);
				return details;
			});
		},
		async record(event, outcome) {
			const found = await foldersOf(event);
			if (outcome.outcome === 'ok') count(event, found);
			audit.record(named(event, found), outcome);
		},
	};
}

function named(event: AuditEvent, { from, to }: Folders): AuditEvent {
	const [owner, toOwner] = [from?.owner.username, to?.owner.username];
	return {
		...event,
		...(owner === undefined ? {} : { owner }),
		...(toOwner === undefined || toOwner === owner ? {} : { toOwner }),
	};
}

/** What becomes of which folder. */
function changesOf({ action, replaced }: AuditEvent, { from, to }: Folders): (readonly [JoinedFolder, ChangeKind])[] {
	const of = (folder: JoinedFolder | undefined, kind: ChangeKind) =>
		folder === undefined ? [] : [[folder, kind] as const];
	const brought = replaced === true ? 'changed' : 'added';
	switch (action) {
		case 'upload':
		case 'convert':
		case 'createFile':
		case 'createFolder':
			return of(from, brought);
		case 'rename':
		case 'restoreVersion':
			return of(from, 'changed');
		case 'delete':
			return of(from, 'removed');
		case 'copy':
			return of(to, brought);
		case 'move':
			return from?.id === to?.id ? of(from, 'changed') : [...of(from, 'removed'), ...of(to, brought)];
		default:
			return [];
	}
}
