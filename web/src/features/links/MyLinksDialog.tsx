import { useEffect, useRef } from 'react';
import { ListDialog, ListEmpty, ListError, ListLoading } from '../../ui/dialogs/ListDialog.js';
import { lazyComponent } from '../../ui/lazyComponent.js';
import styles from './MyLinksDialog.module.css';
import { linkMessages as messages } from './messages.js';
import { useMyShares } from './shares/useMyShares.js';
import { useMyLinks } from './useMyLinks.js';

const LinksTable = lazyComponent(async () => (await import('./LinksTable.js')).LinksTable);
const SharesList = lazyComponent(async () => (await import('./shares/SharesList.js')).SharesList);

export interface MyLinksDialogProps {
	isOpen: boolean;
	onClose: () => void;
}

/** The shares and the temporary links of the signed-in user, each with what can be done with it. */
export function MyLinksDialog({ isOpen, onClose }: MyLinksDialogProps) {
	return (
		<ListDialog isOpen={isOpen} className={styles.dialog} title={messages.myLinks} onClose={onClose}>
			{(focusClose) => <MyLinks onEmptied={focusClose} onLoadFailed={onClose} />}
		</ListDialog>
	);
}

function MyLinks({ onEmptied, onLoadFailed }: { onEmptied: () => void; onLoadFailed: () => void }) {
	const temporary = useMyLinks();
	const shared = useMyShares();
	const { links } = temporary;
	const { shares } = shared;
	const count = shares?.length ?? 0;
	const previousCount = useRef(count);
	useEffect(() => {
		// The last one took its buttons along, and the dialog that asked.
		if (count === 0 && previousCount.current > 0) onEmptied();
		previousCount.current = count;
	});
	const loading = <ListLoading label={messages.loading} />;
	const error = (links === undefined && temporary.error) || (shares === undefined && shared.error);
	const retry = () => {
		temporary.retry();
		shared.retry();
	};
	if (error) return <ListError title={messages.loadFailed} reason={error.message} onRetry={retry} />;
	if (!links || !shares) return loading;
	if (links.length + shares.length === 0) return <ListEmpty title={messages.none} hint={messages.noneHint} />;
	return (
		<>
			{shares.length > 0 && (
				<>
					<h3 className={styles.heading}>{messages.shares}</h3>
					<SharesList
						fallback={loading}
						onLoadFailed={onLoadFailed}
						shares={shares}
						onPause={shared.pause}
						onRemove={shared.remove}
						onChanged={shared.showChanged}
					/>
				</>
			)}
			{shares.length > 0 && links.length > 0 && <h3 className={styles.heading}>{messages.temporaryLinks}</h3>}
			{links.length > 0 && (
				<LinksTable
					fallback={loading}
					onLoadFailed={onLoadFailed}
					links={links}
					onRevoke={(link) => {
						if (links.length === 1) onEmptied();
						temporary.revoke(link);
					}}
				/>
			)}
		</>
	);
}
