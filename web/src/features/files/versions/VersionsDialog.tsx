import { type Area, type Entry, shownName } from '@stowage/rules';
import { useVersionsKeepFor } from '../../../api/capabilities.js';
import type { Version } from '../../../api/versions.js';
import { ListDialog, ListError, ListLoading } from '../../../ui/dialogs/ListDialog.js';
import type { DialogProps } from '../dialogs/fileDialog.js';
import { keptFor } from '../trash/keptFor.js';
import { versionsMessages } from './messages.js';
import { useVersions } from './useVersions.js';
import { VersionList } from './VersionList.js';
import styles from './versions.module.css';

export interface VersionsDialogProps extends DialogProps {
	area: Area;
	entry: Entry;
	/** Makes one of these versions the file's content again. Resolves to whether it did. */
	onRestore: (entry: Entry, version: Version, known: readonly Version[]) => Promise<boolean>;
}

/** The former contents of a file, each with what can be done with it. Restoring one closes it, so that the notice can take that back. */
export function VersionsDialog({ isOpen, onClose, onClosed, area, entry, onRestore }: VersionsDialogProps) {
	return (
		<ListDialog
			isOpen={isOpen}
			className={styles.dialog}
			title={versionsMessages.versions}
			onClose={onClose}
			onClosed={onClosed}
		>
			{(focusClose) => (
				<Versions area={area} entry={entry} onRestore={onRestore} onRestored={onClose} onEmptied={focusClose} />
			)}
		</ListDialog>
	);
}

interface VersionsProps extends Pick<VersionsDialogProps, 'area' | 'entry' | 'onRestore'> {
	onRestored: () => void;
	onEmptied: () => void;
}

function Versions({ area, entry, onRestore, onRestored, onEmptied }: VersionsProps) {
	const { versions, error, retry, remove } = useVersions(area, entry.path);
	const keepFor = useVersionsKeepFor();
	if (error) return <ListError title={versionsMessages.versionsFailed} reason={error.message} onRetry={retry} />;
	if (!versions) return <ListLoading label={versionsMessages.versionsLoading} />;
	return (
		<>
			<p className={styles.name}>{shownName(entry.name)}</p>
			{keepFor > 0 && versions.length > 0 && (
				<p className={styles.note}>{versionsMessages.versionsKept(keptFor(keepFor))}</p>
			)}
			<VersionList
				area={area}
				entry={entry}
				versions={versions}
				onRestore={async (version) => {
					if (await onRestore(entry, version, versions)) onRestored();
					else retry();
				}}
				onDelete={remove}
				onEmptied={onEmptied}
			/>
		</>
	);
}
