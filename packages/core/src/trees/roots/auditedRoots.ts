import type { Audit } from '../../audit/createAudit.js';
import type { RootAdministration } from './RootAdministration.js';

export type AuditedRoots = Pick<RootAdministration, 'list' | 'add' | 'rename' | 'relocate' | 'setDefault' | 'remove'>;

/** Wraps the administration: each change is written to the audit log. */
export function auditedRoots(roots: RootAdministration, audit: Audit): AuditedRoots {
	const ifChanged = (isChanged: boolean) => (isChanged ? {} : undefined);
	return {
		list: () => roots.list(),
		add: (name, driver, location) =>
			audit.recorded({ action: 'addRoot', root: name, to: location }, () => roots.add(name, driver, location)),
		rename: (name, newName) =>
			audit.recorded(
				{ action: 'renameRoot', root: name, to: newName },
				() => roots.rename(name, newName),
				() => ifChanged(name !== newName),
			),
		relocate: (name, location) =>
			audit.recorded(
				{ action: 'relocateRoot', root: name, to: location },
				() => roots.relocate(name, location),
				ifChanged,
			),
		setDefault: (name) =>
			audit.recorded({ action: 'setDefaultRoot', root: name }, () => roots.setDefault(name), ifChanged),
		remove: (name) => audit.recorded({ action: 'removeRoot', root: name }, () => roots.remove(name)),
	};
}
