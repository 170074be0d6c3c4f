import { expect, it, jest } from '@jest/globals';
import type { OpenAPIObject } from '@nestjs/swagger';
import { OpenApiController, OpenApiDocument } from './openapi.controller.js';

it('the OpenAPI document is created once, on first use', () => {
  const create = jest.fn(() => ({ openapi: '3.1.0' }) as OpenAPIObject);
  const document = new OpenApiDocument(create);
  expect(create).not.toHaveBeenCalled();
  const { text } = new OpenApiController(document).openApi();
  expect(text).toBe('{"openapi":"3.1.0"}');
  expect(document.text).toBe(document.text);
  expect(document.value).toEqual({ openapi: '3.1.0' });
  expect(create).toHaveBeenCalledTimes(1);
});
