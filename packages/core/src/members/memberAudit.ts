import type { AuditEvent, AuditOutcome } from '../audit/auditLine.js';
import type { Audit } from '../audit/createAudit.js';
import type { SharedFolders } from './SharedFolders.js';

/** The audit log for what members do as well, whose lines name the owner of a shared folder. Nothing here throws, but for what the work throws. */
export interface MemberAudit extends Pick<Audit, 'recorded'> {
	record(event: AuditEvent, outcome: AuditOutcome): Promise<void>;
}

/** The owners are asked for before the work, after which the folder may have another name, or not be shared any more. */
export function memberAudit(
	audit: Pick<Audit, 'recorded' | 'record'>,
	folders: Pick<SharedFolders, 'ownerOf'>,
): MemberAudit {
	const ownerOf = async ({ viewer }: AuditEvent, path: string | undefined): Promise<string | undefined> => {
		if (viewer?.kind !== 'user' || path === undefined) return undefined;
		// The line is written without the name when the database is away.
		return folders.ownerOf(viewer, path).catch(() => undefined);
	};
	const named = async (event: AuditEvent): Promise<AuditEvent> => {
		const { area, path, paths, to, toArea = area } = event;
		const owner = area === 'shared' ? await ownerOf(event, path ?? paths?.[0]) : undefined;
		const toOwner = toArea === 'shared' ? await ownerOf(event, to) : undefined;
		return {
			...event,
			...(owner === undefined ? {} : { owner }),
			...(toOwner === undefined || toOwner === owner ? {} : { toOwner }),
		};
	};
	return {
		recorded: async (event, work, detailsOf) => audit.recorded(await named(event), work, detailsOf),
		record: async (event, outcome) => audit.record(await named(event), outcome),
	};
}
