import { Button, Dialog, DialogBody, DialogFooter, Spinner } from '@blueprintjs/core';
import { useRef } from 'react';
import { dialogMilliseconds, useOpenings } from '../../ui/dialogs/dialogs.js';
import { onDemand } from '../../ui/onDemand.js';
import styles from './MyLinksDialog.module.css';
import { linkMessages as messages } from './messages.js';
import { useMyLinks } from './useMyLinks.js';

const LinksTable = onDemand(async () => (await import('./LinksTable.js')).LinksTable);

export interface MyLinksDialogProps {
	isOpen: boolean;
	onClose: () => void;
}

/** The temporary links of the signed-in user, each with a button that revokes it. */
export function MyLinksDialog({ isOpen, onClose }: MyLinksDialogProps) {
	const close = useRef<HTMLButtonElement>(null);
	const openings = useOpenings(isOpen);
	return (
		<Dialog
			key={openings}
			isOpen={isOpen}
			className={styles.dialog}
			title={messages.myLinks}
			isCloseButtonShown={false}
			transitionDuration={dialogMilliseconds}
			onClose={onClose}
		>
			<DialogBody>
				{/* Unmounted when the dialog closes, so the links are fetched anew when it opens again. */}
				<MyLinks onEmptied={() => close.current?.focus()} onLoadFailed={onClose} />
			</DialogBody>
			<DialogFooter actions={<Button ref={close} text={messages.close} autoFocus onClick={onClose} />} />
		</Dialog>
	);
}

function MyLinks({ onEmptied, onLoadFailed }: { onEmptied: () => void; onLoadFailed: () => void }) {
	const { links, error, retry, revoke } = useMyLinks();
	const loading = (
		<div className={styles.state} role="status">
			<Spinner size={24} aria-label={messages.loading} />
		</div>
	);
	if (error && !links) {
		return (
			<div className={styles.state} role="alert">
				<p>{messages.loadFailed}</p>
				<p className={styles.hint}>{error.message}</p>
				<Button text={messages.tryAgain} onClick={retry} />
			</div>
		);
	}
	if (!links) return loading;
	if (links.length === 0) {
		return (
			<div className={styles.state}>
				<p>{messages.none}</p>
				<p className={styles.hint}>{messages.noneHint}</p>
			</div>
		);
	}
	return (
		<LinksTable
			fallback={loading}
			onLoadFailed={onLoadFailed}
			links={links}
			onRevoke={(link) => {
				if (links.length === 1) onEmptied();
				revoke(link);
			}}
		/>
	);
}
