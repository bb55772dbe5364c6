import { Button } from '@blueprintjs/core';
import { ErrorIcon, FilterIcon, FolderOpenIcon, SearchIcon } from '@blueprintjs/icons';
import { isFailure, type LetterFilter } from '@stowage/rules';
import { EmptyState } from '../../ui/EmptyState.js';
import styles from './FilesMessage.module.css';
import { filesMessages as messages } from './messages.js';

export interface EmptyListProps {
	/** What was searched for; `''` for the folder itself. */
	search: string;
	letter: LetterFilter;
	mayUpload: boolean;
	onShowAll: () => void;
}

/** In place of rows, where there are none. */
export function EmptyList({ search, letter, mayUpload, onShowAll }: EmptyListProps) {
	if (letter !== 'ALL') {
		return (
			<EmptyState icon={<FilterIcon size={32} />} title={messages.noMatches} detail={messages.emptyFilter(letter)}>
				<Button text={messages.showAll} onClick={onShowAll} />
			</EmptyState>
		);
	}
	if (search !== '') {
		return (
			<EmptyState icon={<SearchIcon size={32} />} title={messages.noResults} detail={messages.emptySearch(search)} />
		);
	}
	const detail = mayUpload ? `${messages.emptyFolder} ${messages.emptyHint}` : messages.emptyFolder;
	return <EmptyState icon={<FolderOpenIcon size={32} />} title={messages.noResults} detail={detail} />;
}

export interface LoadErrorProps {
	/** Undefined for an address that no folder can have. */
	error: Error | undefined;
	onRetry: () => void;
	onHome: () => void;
}

/** In place of the list, when the folder can't be shown. */
export function LoadError({ error, onRetry, onHome }: LoadErrorProps) {
	const isMissing = error === undefined || isFailure(error, 'notFound') || isFailure(error, 'invalidPath');
	return (
		<div role="alert" className={styles.error}>
			<EmptyState
				icon={<ErrorIcon size={32} />}
				title={messages.loadFailed}
				detail={isMissing ? messages.noSuchFolder : error.message}
			>
				{!isMissing && <Button intent="primary" text={messages.tryAgain} onClick={onRetry} />}
				<Button intent={isMissing ? 'primary' : 'none'} text={messages.home} onClick={onHome} />
			</EmptyState>
		</div>
	);
}
