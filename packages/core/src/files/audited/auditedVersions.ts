import type { MemberAudit } from '../../members/memberAudit.js';
import type { FileVersions } from '../versions.js';
import { type PurgeNames, recordPurge } from './recordPurge.js';

/** Wraps the service: what is restored or removed for good is written to the audit log. */
export function auditedVersions(versions: FileVersions, audit: MemberAudit, names: PurgeNames): FileVersions {
	return {
		get keepFor() {
			return versions.keepFor;
		},
		list: (...call) => versions.list(...call),
		open: (...call) => versions.open(...call),
		restore: (viewer, { area, path }, id) =>
			audit.recorded({ action: 'restoreVersion', viewer, area, path, trash: id }, () =>
				versions.restore(viewer, { area, path }, id),
			),
		purge: (viewer, id) =>
			audit.recorded({ action: 'purgeVersions', viewer, trash: id }, () => versions.purge(viewer, id)),
		purgeAny: (selection) => recordPurge(audit, names, 'purgeVersions', selection, () => versions.purgeAny(selection)),
	};
}
