import { ListDialog, ListEmpty, ListError, ListLoading } from '../../ui/dialogs/ListDialog.js';
import { lazyComponent } from '../../ui/lazyComponent.js';
import styles from './MyLinksDialog.module.css';
import { linkMessages as messages } from './messages.js';
import { useMyLinks } from './useMyLinks.js';

const LinksTable = lazyComponent(async () => (await import('./LinksTable.js')).LinksTable);

export interface MyLinksDialogProps {
	isOpen: boolean;
	onClose: () => void;
}

/** The temporary links of the signed-in user, each with a button that revokes it. */
export function MyLinksDialog({ isOpen, onClose }: MyLinksDialogProps) {
	return (
		<ListDialog isOpen={isOpen} className={styles.dialog} title={messages.myLinks} onClose={onClose}>
			{(focusClose) => <MyLinks onEmptied={focusClose} onLoadFailed={onClose} />}
		</ListDialog>
	);
}

function MyLinks({ onEmptied, onLoadFailed }: { onEmptied: () => void; onLoadFailed: () => void }) {
	const { links, error, retry, revoke } = useMyLinks();
	const loading = <ListLoading label={messages.loading} />;
	if (error && !links) return <ListError title={messages.loadFailed} reason={error.message} onRetry={retry} />;
	if (!links) return loading;
	if (links.length === 0) return <ListEmpty title={messages.none} hint={messages.noneHint} />;
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
