import {
	AlignLeftIcon,
	ApplicationIcon,
	ArchiveIcon,
	BookIcon,
	CodeIcon,
	CogIcon,
	CompressedIcon,
	ConsoleIcon,
	DatabaseIcon,
	DocumentIcon,
	EndorsedIcon,
	FolderCloseIcon,
	FolderSharedIcon,
	FontIcon,
	HistoryIcon,
	ManualIcon,
	MediaIcon,
	MusicIcon,
	PresentationIcon,
	TextHighlightIcon,
	ThIcon,
	VideoIcon,
} from '@blueprintjs/icons';
import { type Entry, type FileType, fileType } from '@stowage/rules';
import type { ComponentType, SVGProps } from 'react';

interface TypeIcon {
	Icon: ComponentType<{ size?: number; 'aria-hidden'?: SVGProps<SVGElement>['aria-hidden'] }>;
	/** The colour of the icon (`data-hue`). */
	hue: 'plain' | 'paper' | 'sheet' | 'picture' | 'film' | 'sound' | 'pack' | 'code' | 'folder';
	/** Read by screen readers. */
	label: string;
}

const folder: TypeIcon = { Icon: FolderCloseIcon, hue: 'folder', label: 'folder' };
const publicFolder: TypeIcon = { ...folder, Icon: FolderSharedIcon };

const files: Readonly<Record<FileType, TypeIcon>> = {
	pdf: { Icon: ManualIcon, hue: 'paper', label: 'PDF' },
	document: { Icon: DocumentIcon, hue: 'paper', label: 'document' },
	text: { Icon: AlignLeftIcon, hue: 'plain', label: 'text file' },
	epub: { Icon: BookIcon, hue: 'paper', label: 'EPUB book' },
	spreadsheet: { Icon: ThIcon, hue: 'sheet', label: 'spreadsheet' },
	image: { Icon: MediaIcon, hue: 'picture', label: 'image' },
	video: { Icon: VideoIcon, hue: 'film', label: 'video' },
	audio: { Icon: MusicIcon, hue: 'sound', label: 'audio file' },
	archive: { Icon: CompressedIcon, hue: 'pack', label: 'archive' },
	code: { Icon: CodeIcon, hue: 'code', label: 'code' },
	executable: { Icon: ApplicationIcon, hue: 'plain', label: 'program' },
	presentation: { Icon: PresentationIcon, hue: 'pack', label: 'presentation' },
	markdown: { Icon: TextHighlightIcon, hue: 'plain', label: 'Markdown file' },
	database: { Icon: DatabaseIcon, hue: 'sheet', label: 'database' },
	font: { Icon: FontIcon, hue: 'plain', label: 'font' },
	script: { Icon: ConsoleIcon, hue: 'code', label: 'script' },
	config: { Icon: CogIcon, hue: 'plain', label: 'configuration file' },
	log: { Icon: HistoryIcon, hue: 'plain', label: 'log' },
	certificate: { Icon: EndorsedIcon, hue: 'plain', label: 'certificate' },
	backup: { Icon: ArchiveIcon, hue: 'plain', label: 'backup' },
	other: { Icon: DocumentIcon, hue: 'plain', label: 'file' },
};

export function typeIcon(entry: Pick<Entry, 'name' | 'type' | 'protected'>): TypeIcon {
	if (entry.type === 'file') return files[fileType(entry.name)];
	return entry.protected ? publicFolder : folder;
}
