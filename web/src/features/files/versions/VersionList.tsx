import { Button } from '@blueprintjs/core';
import { DownloadIcon, TrashIcon, UndoIcon } from '@blueprintjs/icons';
import { type Area, type Entry, formatListSize } from '@stowage/rules';
import { useEffect, useId, useRef, useState } from 'react';
import { useSession } from '../../../api/session/useSession.js';
import { type Version, versionUrl } from '../../../api/versions.js';
import { useLast, useOpenings } from '../../../ui/dialogs/dialogs.js';
import { FormDialog } from '../../../ui/dialogs/FormDialog.js';
import { ListEmpty } from '../../../ui/dialogs/ListDialog.js';
import { isFocusLost } from '../../../ui/keyboard/keptFocus.js';
import { dialogMessages } from '../dialogs/messages.js';
import { filesMessages as messages } from '../messages.js';
import { versionsMessages } from './messages.js';
import styles from './versions.module.css';
import { versionTime, versionTimes } from './versionTime.js';

export interface VersionListProps {
	area: Area;
	entry: Entry;
	versions: readonly Version[];
	onRestore: (version: Version) => Promise<void>;
	onDelete: (version: Version) => void;
	/** The last one is gone, and with it the button that had the focus. */
	onEmptied: () => void;
}

export function VersionList({ area, entry, versions, onRestore, onDelete, onEmptied }: VersionListProps) {
	const list = useRef<HTMLUListElement>(null);
	const [deleting, setDeleting] = useState<Version>();
	const [isRestoring, setRestoring] = useState(false);
	const shown = useLast(deleting);
	const openings = useOpenings(deleting !== undefined);
	const afterDeleted = useRef<Version | 'none'>(undefined);
	const timeOf = versionTimes(versions);

	const restore = async (version: Version) => {
		if (isRestoring) return;
		setRestoring(true);
		await onRestore(version);
		setRestoring(false);
	};
	const remove = (version: Version) => {
		const index = versions.indexOf(version);
		afterDeleted.current = versions[index + 1] ?? versions[index - 1] ?? 'none';
		onDelete(version);
	};
	const focusNext = () => {
		const next = afterDeleted.current;
		afterDeleted.current = undefined;
		if (next === 'none') onEmptied();
		else if (next) list.current?.querySelector<HTMLElement>(`[data-delete="${next.id}"]`)?.focus();
	};
	useEffect(() => {
		// The row of a button that had the focus is gone: its version was removed elsewhere. Without a focus in it the dialog hears no key.
		if (!isFocusLost()) return;
		const [button] = versions.length > 0 ? (list.current?.getElementsByTagName('button') ?? []) : [];
		if (button) button.focus();
		else onEmptied();
	}, [versions, onEmptied]);
	return (
		<>
			{versions.length === 0 && (
				<ListEmpty title={versionsMessages.noVersions} hint={versionsMessages.noVersionsHint} />
			)}
			<ul ref={list} className={styles.versions} hidden={versions.length === 0}>
				{versions.map((version) => (
					<VersionRow
						key={version.id}
						version={version}
						time={timeOf(version.mtime)}
						href={versionUrl(area, entry, version.id)}
						fileName={entry.name}
						onRestore={() => restore(version)}
						// Members of a folder delete no version for good.
						onDelete={area === 'shared' ? undefined : () => setDeleting(version)}
					/>
				))}
			</ul>
			<FormDialog
				key={openings}
				isOpen={deleting !== undefined}
				title={dialogMessages.deleteForever}
				confirm={dialogMessages.deleteForever}
				intent="danger"
				focusesConfirm
				onConfirm={async () => {
					if (deleting) remove(deleting);
					return true;
				}}
				onClose={() => setDeleting(undefined)}
				onClosed={focusNext}
			>
				<p>{shown && versionsMessages.deleteVersionQuestion(timeOf(shown.mtime))}</p>
			</FormDialog>
		</>
	);
}

interface VersionRowProps {
	version: Version;
	/** What it is called. */
	time: string;
	href: string;
	fileName: string;
	onRestore: () => void;
	onDelete: (() => void) | undefined;
}

function VersionRow({ version, time, href, fileName, onRestore, onDelete }: VersionRowProps) {
	const { id, size, replacedAt, replacedBy } = version;
	const session = useSession();
	const timeId = useId();
	const isOther = session.status === 'signedIn' && session.username !== replacedBy;
	return (
		<li className={styles.version}>
			<span className={styles.time} id={timeId}>
				{time}
			</span>
			<span className={styles.facts}>
				<span>{formatListSize(size)}</span>
				<span>{versionsMessages.replacedAt(versionTime(replacedAt))}</span>
				{isOther && <span>{versionsMessages.replacedBy(replacedBy)}</span>}
			</span>
			<span className={styles.actions}>
				<a className="bp6-button bp6-minimal" href={href} download={fileName} aria-describedby={timeId}>
					<DownloadIcon />
					<span className="bp6-button-text">{messages.download}</span>
				</a>
				<Button
					variant="minimal"
					icon={<UndoIcon />}
					text={messages.restore}
					aria-describedby={timeId}
					onClick={onRestore}
				/>
				{onDelete && (
					<Button
						variant="minimal"
						icon={<TrashIcon />}
						text={dialogMessages.delete}
						aria-describedby={timeId}
						data-delete={id}
						onClick={onDelete}
					/>
				)}
			</span>
		</li>
	);
}
