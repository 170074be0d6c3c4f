import { Module } from '@nestjs/common';
import { ApiExceptionFilter } from './exception.filter.js';

/** The response to every error. */
@Module({ providers: [ApiExceptionFilter], exports: [ApiExceptionFilter] })
export class ErrorsModule {}
