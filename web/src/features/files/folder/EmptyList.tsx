import { Button } from '@blueprintjs/core';
import { FilterIcon, FolderOpenIcon, PeopleIcon, SearchIcon } from '@blueprintjs/icons';
import type { LetterFilter } from '@stowage/rules';
import { hasFilters, type Search } from '../../../api/listings/search.js';
import { EmptyState } from '../../../ui/display/EmptyState.js';
import { filesMessages as messages } from '../messages.js';

export interface EmptyListProps extends Search {
	letter: LetterFilter;
	/** How files come into an empty folder, for who may upload there. */
	uploadHint?: string | undefined;
	/** Whether it is the list of the folders that are shared with the user. @default false */
	isSharedRoot?: boolean | undefined;
	onShowAll: () => void;
}

/** Shown instead of rows if there are none. */
export function EmptyList({ search, filters, letter, uploadHint, isSharedRoot, onShowAll }: EmptyListProps) {
	if (letter !== 'ALL') {
		return (
			<EmptyState icon={<FilterIcon size={32} />} title={messages.noMatches} detail={messages.emptyFilter(letter)}>
				<Button text={messages.showAll} onClick={onShowAll} />
			</EmptyState>
		);
	}
	if (hasFilters(filters)) {
		const detail = messages.emptyFiltered(search);
		return <EmptyState icon={<FilterIcon size={32} />} title={messages.noMatches} detail={detail} />;
	}
	if (search !== '') {
		return (
			<EmptyState icon={<SearchIcon size={32} />} title={messages.noResults} detail={messages.emptySearch(search)} />
		);
	}
	if (isSharedRoot) {
		return (
			<EmptyState icon={<PeopleIcon size={32} />} title={messages.nothingShared} detail={messages.nothingSharedHint} />
		);
	}
	const detail = uploadHint ? `${messages.emptyFolder} ${uploadHint}` : messages.emptyFolder;
	return <EmptyState icon={<FolderOpenIcon size={32} />} title={messages.noResults} detail={detail} />;
}
