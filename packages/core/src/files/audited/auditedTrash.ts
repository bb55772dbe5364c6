import { anonymousOwner } from '@stowage/rules';
import { accountFields } from '../../audit/auditLine.js';
import type { Audit } from '../../audit/createAudit.js';
import type { Trash } from '../trash.js';
import { type PurgeNames, recordPurge } from './recordPurge.js';

/** Wraps the service: what is restored or removed for good is written to the audit log. */
export function auditedTrash(trash: Trash, audit: Audit, names: PurgeNames): Trash {
	return {
		get keepFor() {
			return trash.keepFor;
		},
		list: (viewer) => trash.list(viewer),
		restore: (viewer, id) =>
			audit.recorded(
				{ action: 'restoreItem', viewer, area: 'private', trash: id },
				() => trash.restore(viewer, id),
				({ entry: { path }, owner }) => ({ path, ...(owner === undefined ? {} : { area: 'shared', owner }) }),
			),
		purge: (viewer, id) => audit.recorded({ action: 'purgeTrash', viewer, trash: id }, () => trash.purge(viewer, id)),
		restoreFor: (owner, id) =>
			audit.recorded(
				owner.kind === 'user'
					? { action: 'restoreItem', ...accountFields(owner), area: 'private', trash: id }
					: { action: 'restoreItem', owner: anonymousOwner, area: 'public', trash: id },
				() => trash.restoreFor(owner, id),
				({ path }) => ({ path }),
			),
		purgeAny: (selection) => recordPurge(audit, names, 'purgeTrash', selection, () => trash.purgeAny(selection)),
		empty: (viewer) =>
			audit.recorded(
				{ action: 'purgeTrash', viewer },
				() => trash.empty(viewer),
				(entries) => (entries === 0 ? undefined : { entries }),
			),
	};
}
